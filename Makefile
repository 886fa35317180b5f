# SPDX-License-Identifier: GPL-2.0-only
#
# make demo     the result, measured in a guest with a stock kernel
# make check    the tests
# make help     the rest
#
# demo, check and lint make their own build environment (tools/vm/buildenv).
# all, install and uninstall use this machine's tools and its own kernel.

# where all that is built goes
O	:= $(or $(MPDPA_BUILT),out)
KERNEL	?= $(shell cat tools/vm/series)
# all that it is for
SERIES	:= 6.12 7.2 7.3
# the release of the headers given, else the running kernel's
ifndef KREL
KREL	:= $(shell $(if $(KDIR),cat '$(KDIR)/include/config/kernel.release' 2>/dev/null,uname -r))
endif
KDIR	?= /lib/modules/$(KREL)/build
PREFIX	?= /usr
DESTDIR	?=

BUILDENV := tools/vm/buildenv run --
VERSION	 := 0.1.0
export KERNEL

# what results say they were measured with; the environment has no git
export MPDPA_REVISION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo $(VERSION))

ifdef MPDPA_BUILDENV
INSIDE	:=
else
INSIDE	:= $(BUILDENV)
endif

.PHONY: all help
all: modules bpf lib cmd

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## demo            build everything, run the demo in a guest: out/demo/report.html
##                 (VM=no: on this kernel, with what is built here, as root; no mptcp_dpa may be loaded)
## check           the tests; KERNEL=6.12, 7.2 (default) or 7.3. On the other two, that all programs load and work
## lint            static checks
## check-upstream  the kernel's own MPTCP selftests, default and mpdpa side by side
## fuzz            FUZZ_CALLS=1000000 random calls in the guest, FUZZ_SEED=1
## veristat        what the verifier did with each program; kept in tools/check/veristat
.PHONY: demo check lint check-upstream veristat fuzz
ifeq ($(VM),no)
demo: all
	PYTHONPATH=tools python3 -m testbed demo --vm no
else
demo:
	@$(INSIDE) $(MAKE) --no-print-directory demo-inside
endif

## check-debug     the selftests on a kernel that watches itself (KASAN, lockdep, ...)
## soak            an hour of virtual time, 10,000 connections, paths that come and go
## testing         put what was run into Documentation/testing.md
.PHONY: check-debug soak testing check-debug-inside soak-inside
check-debug: export KERNEL := debug
check-debug soak:
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside

# beside what is built for the stock kernel
check-debug-inside:
	+@MPDPA_BUILT=out/debug $(MAKE) --no-print-directory guest
	MPDPA_BUILT=out/debug python3 tools/check/check.py --target check-debug

soak-inside: guest
	python3 tools/check/check.py --target soak

testing:
	@$(INSIDE) python3 tools/check/results.py render

# kernels differ in what their verifiers take, and in what of a silent path they send again
OTHERS	:= $(filter-out $(KERNEL),$(SERIES))
.PHONY: check-others $(OTHERS:%=check-on-%) check-programs-inside
ifndef MPDPA_BUILDENV
check: check-others
check-others:
	+@$(MAKE) --no-print-directory -j2 --output-sync=target $(OTHERS:%=check-on-%)

$(OTHERS:%=check-on-%): check-on-%:
	@KERNEL=$* MAKEFLAGS= $(INSIDE) $(MAKE) --no-print-directory KERNEL=$* check-programs-inside
endif

check-programs-inside:
	+@MPDPA_BUILT=out/$(KERNEL) $(MAKE) --no-print-directory guest
	MPDPA_BUILT=out/$(KERNEL) python3 tools/check/check.py --target check-programs

## bench-sockopt   what the attached programs cost other option calls: Documentation/sockopt-cost.md
## bench-scale     10,000 connections: memory of each, duration of a dump (CONNECTIONS=N)
## bench-decision  instructions a decision takes, with 2 and 8 paths: Documentation/decision-cost.md
.PHONY: bench-sockopt bench-scale bench-decision
check lint check-upstream veristat fuzz bench-sockopt bench-scale bench-decision:
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside $(foreach v,CONNECTIONS FUZZ_CALLS FUZZ_SEED,$(if $($v),$v=$($v)))

## bench-static bench-traces bench-alpha    whole campaigns: out/bench-NAME/report.html; QUICK=1 (out/bench-NAME-quick), FULL=1,
##                 TRACES=DIR (bench-traces: recorded traces, within this folder; not QUICK), JOBS=N
BENCHES := bench-static bench-traces bench-alpha
BENCH_OPTIONS := $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(TRACES),--traces $(TRACES)) $(if $(JOBS),--jobs $(JOBS))
.PHONY: $(BENCHES) $(BENCHES:=-inside)
$(BENCHES):
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside QUICK='$(QUICK)' FULL='$(FULL)' TRACES='$(TRACES)' JOBS='$(JOBS)'

$(BENCHES:=-inside): bench-%-inside: guest
	PYTHONPATH=tools python3 -m testbed bench $* $(BENCH_OPTIONS)

## bench-crowd     a thousand connections with a chunk each, beside stock MPTCP
.PHONY: bench-crowd bench-crowd-inside
bench-crowd:
	@$(INSIDE) $(MAKE) --no-print-directory bench-crowd-inside JOBS="$(JOBS)"

bench-crowd-inside: guest
	PYTHONPATH=tools python3 -m testbed run crowd --out out/bench-crowd $(if $(JOBS),--jobs $(JOBS))

## bench-robust    nine conditions, pairwise: congestion control, delay, loss, buffers; QUICK=1, JOBS=N
.PHONY: bench-robust bench-robust-inside
bench-robust:
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside QUICK='$(QUICK)' JOBS='$(JOBS)'

bench-robust-inside: guest
	PYTHONPATH=tools python3 -m testbed robust $(if $(QUICK),--quick) $(if $(JOBS),--jobs $(JOBS))

## bench-lot       networks drawn by lot, beside stock MPTCP; SEED=N COUNT=N PATHS=N, CHANGING=1, QUICK=1, JOBS=N
LOT_OPTIONS := $(foreach v,SEED COUNT PATHS JOBS,$(if $($v),--$(shell echo $v | tr A-Z a-z) $($v)))
.PHONY: bench-lot bench-lot-inside
bench-lot:
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside $(foreach v,SEED COUNT PATHS JOBS CHANGING QUICK,$v='$($v)')

bench-lot-inside: guest
	PYTHONPATH=tools python3 -m testbed lot $(if $(CHANGING),--changing) $(if $(QUICK),--quick) $(LOT_OPTIONS)

.PHONY: demo-inside check-inside lint-inside
demo-inside: guest
	PYTHONPATH=tools python3 -m testbed demo

check-inside: guest unit upstream
	python3 tools/check/check.py

lint-inside: all
	tools/check/lint.sh

.PHONY: check-upstream-inside veristat-inside upstream
check-upstream-inside: guest upstream
	python3 tools/check/upstream.py

veristat-inside: guest
	tools/check/veristat.sh

.PHONY: fuzz-inside
fuzz-inside: guest
	$(if $(FUZZ_CALLS),FUZZ_CALLS=$(FUZZ_CALLS)) $(if $(FUZZ_SEED),FUZZ_SEED=$(FUZZ_SEED)) \
		python3 tools/check/check.py --target fuzz

# --- the kernel's own selftests, as the environment has them ------------------

MPDPA_LINUX ?= /usr/local/share/mpdpa/linux
UPSTREAM      := $(O)/upstream/opt/upstream
UPSTREAM_FROM := $(MPDPA_LINUX)/tools/testing/selftests/net
upstream: $(patsubst $(UPSTREAM_FROM)/mptcp/%.c,$(UPSTREAM)/net/mptcp/%,$(wildcard $(UPSTREAM_FROM)/mptcp/*.c))
	@cp -r $(UPSTREAM_FROM)/lib.sh $(UPSTREAM)/net/
	@mkdir -p $(UPSTREAM)/net/lib && cp -r $(UPSTREAM_FROM)/lib/sh $(UPSTREAM)/net/lib/
	@cp $(UPSTREAM_FROM)/mptcp/*.sh $(UPSTREAM)/net/mptcp/
	@cp tools/check/upstream/*.sh selftests/complaints $(UPSTREAM)/
	@mkdir -p $(UPSTREAM)/bin && cp tools/check/upstream/ip $(UPSTREAM)/bin/

$(UPSTREAM)/net/mptcp/%: $(UPSTREAM_FROM)/mptcp/%.c
	@mkdir -p $(@D)
	@echo "  CC      $@"
	@$(CC) -O2 -w -static -Itools/check/upstream/include -I$(MPDPA_LINUX)/usr/include -o $@ $<

# --- the module -------------------------------------------------------------

## modules         out/module/RELEASE/mptcp_dpa.ko, for KDIR=HEADERS (default: the running
##                 kernel's) or KREL=RELEASE; "install" and "uninstall" take the same
MODULE_DIR := $(O)/module/$(KREL)
MODULE	   := $(MODULE_DIR)/mptcp_dpa.ko
.PHONY: modules
modules:
	@test -e $(KDIR)/Makefile || { echo "make: no kernel headers in $(KDIR): install linux-headers-$(or $(KREL),RELEASE)" >&2; exit 1; }
	@test -n "$(KREL)" || { echo "make: no include/config/kernel.release in $(KDIR): build that kernel first, or give KREL=RELEASE" >&2; exit 1; }
# a kernel of the same release but another configuration refuses the old one
	@cmp -s $(KDIR)/include/config/auto.conf $(MODULE_DIR)/auto.conf || rm -rf $(MODULE_DIR)
	@mkdir -p $(MODULE_DIR)/kernel/uapi/linux $(MODULE_DIR)/bpf
	@cp $(KDIR)/include/config/auto.conf $(MODULE_DIR)/auto.conf
	@cp -u Kbuild $(MODULE_DIR)/
	@cp -u kernel/*.[ch] $(MODULE_DIR)/kernel/
	@cp -u kernel/uapi/linux/*.h $(MODULE_DIR)/kernel/uapi/linux/
	@cp -u $(addprefix bpf/,arith.h pause.h queue.h estimate.h pick.h stuck.h) $(MODULE_DIR)/bpf/
	+@$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(MODULE_DIR)) \
		KCFLAGS=-g0 DPA_VERSION=$(VERSION) modules
	@tools/check/module_btf.sh $(MODULE)

# libbpf as "make libbpf" makes it comes before the distribution's
LIBBPF	   := $(abspath $(O))/libbpf
PKG_CONFIG := env PKG_CONFIG_PATH=$(LIBBPF)/lib/pkgconfig:$(PKG_CONFIG_PATH) pkg-config

# --- BPF --------------------------------------------------------------------

## bpf             the schedulers and the socket option programs: out/bpf/*.bpf.o
BPF_CLANG  ?= $(firstword $(shell command -v clang clang-19 clang-18 clang-17))
BPFTOOL	   ?= bpftool
BPF_BTF	   ?= $(firstword $(wildcard $(KDIR)/vmlinux /sys/kernel/btf/vmlinux))
BPF_HEADERS := $(wildcard bpf/*.h kernel/state.h kernel/uapi/linux/*.h)
BPF_OBJECTS := $(patsubst bpf/%.bpf.c,$(O)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
# kernels since 7.0 have unnamed members of named type in their BTF
BPF_CFLAGS = --target=bpf -mcpu=v3 -O2 -g -Wall -Werror \
	-fms-extensions -Wno-microsoft-anon-tag -D__TARGET_ARCH_x86 \
	-I$(O)/bpf -Ibpf -Ikernel -Ikernel/uapi \
	$(shell $(PKG_CONFIG) --cflags-only-I libbpf 2>/dev/null)

.PHONY: bpf need-clang
bpf: $(BPF_OBJECTS)

# without it the recipes would begin with a dash, which is make's word for "whatever comes of it"
need-clang:
	@test -n "$(BPF_CLANG)" || { echo "missing: clang (Debian: apt install clang)" >&2; exit 1; }

# programs are made for one kernel: another one makes them anew
.PHONY: FORCE
$(O)/bpf/kernel: FORCE
	@mkdir -p $(@D)
	@echo '$(KREL) $(BPF_BTF)' | cmp -s - $@ || echo '$(KREL) $(BPF_BTF)' > $@

# compat.bpf.h cannot see which structures there are, and what members they have
$(O)/bpf/vmlinux.h: $(O)/bpf/kernel $(BPF_BTF) | us-need-libbpf
	@$(BPFTOOL) btf dump file $(BPF_BTF) format c > $@.tmp
	@! grep -q '(\*get_subflow)' $@.tmp || echo '#define MPTCP_SCHED_GET_SUBFLOW' >> $@.tmp
	@! grep -q '^struct bpf_iter_mptcp_subflow {' $@.tmp || echo '#define MPTCP_SCHED_HAS_ITERATOR' >> $@.tmp
	@mv $@.tmp $@

$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/bpf/vmlinux.h $(BPF_HEADERS) | us-need-libbpf need-clang
	@echo "  BPF     $@"
	@$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

# --- user space -------------------------------------------------------------

## lib cmd         libmpdpa and the command mpdpa: out/lib, out/bin
## libbpf          out/libbpf, where the distribution's libbpf is older than 1.7
LINUX_SOURCE ?= $(lastword $(sort $(wildcard /usr/src/linux-source-7.*.tar.xz)))
.PHONY: libbpf
libbpf:
	@test -n "$(LINUX_SOURCE)" || { echo "make: libbpf is built from the kernel's source: apt install linux-source-7.2" >&2; exit 1; }
	@mkdir -p $(O)/linux $(LIBBPF)/build
	tar -xf $(LINUX_SOURCE) -C $(O)/linux --strip-components=1 --wildcards \
		'linux-source-*/scripts/bpf_doc.py' 'linux-source-*/include/uapi' '*/tools/lib' '*/tools/include' '*/tools/scripts' '*/tools/build' '*/tools/arch'
	+$(MAKE) -C $(O)/linux/tools/lib/bpf OUTPUT=$(LIBBPF)/build/ prefix=$(LIBBPF) \
		libdir=$(LIBBPF)/lib $(LIBBPF)/build/libbpf.a install_headers install_pkgconfig
	@install -m 644 $(LIBBPF)/build/libbpf.a $(LIBBPF)/lib/
	@rm -rf $(O)/linux

-include userspace/build.mk

## unit            unit tests of what needs no kernel
.PHONY: unit
unit: $(O)/test/decision_test

$(O)/test/decision_test: $(wildcard bpf/*_test.c) $(BPF_HEADERS)
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-sign-compare -Werror \
		-fsanitize=undefined,address -fno-sanitize-recover=all \
		-Ikernel -Ikernel/uapi -o $@ $(filter %.c,$^)

## sim             scenarios in the simulator; SCENARIOS="bulk-sym ...": these; SEEDS=N: means of so many runs
SIM := $(O)/sim/sim
.PHONY: sim sim-inside
sim:
	@$(INSIDE) $(MAKE) --no-print-directory sim-inside SCENARIOS="$(SCENARIOS)" SEEDS="$(SEEDS)"

sim-inside: $(SIM)
	@PYTHONPATH=tools python3 -m sim $(if $(SEEDS),--seeds $(SEEDS)) $(SCENARIOS)

## sim-lot         the rule on networks drawn by lot, and where it does worst; COUNT=N SEED=N PATHS=N ALPHA=N, CHANGING=1
.PHONY: sim-lot sim-lot-inside
sim-lot:
	@$(INSIDE) $(MAKE) --no-print-directory $@-inside $(foreach v,SEED COUNT PATHS ALPHA CHANGING,$v='$($v)')

sim-lot-inside: $(SIM)
	@PYTHONPATH=tools python3 -m sim.lot $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) \
		$(if $(PATHS),--paths $(PATHS)) $(if $(ALPHA),--alpha $(ALPHA)) $(if $(CHANGING),--changing)

unit: $(SIM)
$(SIM): $(wildcard tools/sim/*.[ch]) $(BPF_HEADERS)
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Wno-sign-compare -Werror \
		-Ikernel -Ikernel/uapi -Ibpf -o $@ $(filter %.c,$^)

# --- what the guest needs ---------------------------------------------------

.PHONY: guest
GUEST	  := $(O)/guest
SELFTESTS := $(O)/selftests/opt/mpdpa/selftests
guest: modules bpf lib cmd
	@$(MAKE) --no-print-directory -C selftests OUT=$(abspath $(O)) all
	@mkdir -p $(GUEST)/usr/local/lib/mpdpa $(GUEST)/usr/local/sbin
	@cp $(MODULE) $(BPF_OBJECTS) $(GUEST)/usr/local/lib/mpdpa/
	@cp $(MODULE) $(BPF_OBJECTS) $(SELFTESTS)/
	@cp -u $(O)/bin/mpdpa $(GUEST)/usr/local/sbin/

-include tools/testbed/build.mk

# --- installation on a real machine -----------------------------------------

## install         module, command, library, man pages (DESTDIR, PREFIX=/usr)
## uninstall       remove them
MODULE_DEST := $(DESTDIR)/lib/modules/$(KREL)/updates
.PHONY: install uninstall
install: all install-userspace
	install -D -m 644 $(MODULE) $(MODULE_DEST)/mptcp_dpa.ko
	install -d $(DESTDIR)$(PREFIX)/lib/mpdpa
	install -m 644 $(BPF_OBJECTS) $(DESTDIR)$(PREFIX)/lib/mpdpa/
	$(if $(DESTDIR),,depmod -a $(KREL))

uninstall:
	@test -n "$(KREL)" || { echo "make: whose module? give KREL=RELEASE" >&2; exit 1; }
	@$(MAKE) --no-print-directory uninstall-userspace
	rm -f $(MODULE_DEST)/mptcp_dpa.ko
	rm -rf $(DESTDIR)$(PREFIX)/lib/mpdpa
	$(if $(DESTDIR),,depmod -a $(KREL))

# --- upkeep -----------------------------------------------------------------

## ynl             write again what is generated from the netlink spec
.PHONY: ynl
ynl:
	@$(INSIDE) tools/check/ynl.sh write

## readme          put the demo's table and the example into README.md
.PHONY: readme
readme:
	@$(INSIDE) python3 tools/check/readme.py write

## clean           remove what was built
## distclean       and the build environment's cache
.PHONY: clean distclean
clean:
	rm -rf $(O)
distclean: clean
	tools/vm/buildenv distclean
