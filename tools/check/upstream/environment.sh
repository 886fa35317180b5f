# shellcheck shell=bash
# Read by every bash of the kernel's tests (BASH_ENV), which run unmodified: what
# they draw at random is the same each time.

RANDOM=${UPSTREAM_SEED:-1}
