#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	column.sh SCHEDULER SEED 'TEST ARGUMENT...'...
#
# In the guest: runs the kernel's MPTCP selftests with one scheduler. Leaves
# /results/N.log, N.status and N.decisions (see ip) for the Nth of
# them, and in bad and broken what is wrong with the kernel and with the run.

set -u
export UPSTREAM_SCHEDULER=$1 UPSTREAM_SEED=$2
shift 2
# it is the case that has failed, not the run
export SELFTESTS_MPTCP_LIB_OVERRIDE_FLAKY=1

if [ "$UPSTREAM_SCHEDULER" != default ]; then
	insmod /usr/local/lib/mpdpa/mptcp_dpa.ko && mpdpa load || exit 1
fi
cd /opt/upstream/net/mptcp || exit 1
export BASH_ENV=/opt/upstream/environment.sh
UPSTREAM_IP=$(command -v ip)
export UPSTREAM_IP PATH=/opt/upstream/bin:$PATH
n=0
for test in "$@"; do
	read -ra words <<<"$test"
	export UPSTREAM_TEST=$n
	timeout 1500 bash "./${words[0]}" "${words[@]:1}" >"/results/$n.log" 2>&1
	echo $? >"/results/$n.status"
	n=$((n + 1))
done
dmesg | grep -Ef /opt/upstream/complaints >/results/bad
true
