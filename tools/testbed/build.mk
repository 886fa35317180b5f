# SPDX-License-Identifier: GPL-2.0-only
# What the testbed has to build: the programs that make links with traces, and
# MPTCP sockets for any command. Included by the Makefile at the top, from where
# all paths count.

tb_programs := $(patsubst tools/testbed/%,$(GUEST)/usr/local/lib/mpdpa/%, \
	$(patsubst %.bpf.c,%.bpf.o,$(wildcard tools/testbed/*.bpf.c)))

$(tb_programs): $(GUEST)/usr/local/lib/mpdpa/%.bpf.o: tools/testbed/%.bpf.c $(O)/bpf/vmlinux.h
	@mkdir -p $(@D)
	@echo "  BPF     $@"
	@$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

guest: $(tb_programs)
