# SPDX-License-Identifier: GPL-2.0-only
# What the testbed has to build: the program that makes links with traces.
# Included by the Makefile at the top, from where all paths count.

tb_link := $(GUEST)/usr/local/lib/mpdpa/link.bpf.o

$(tb_link): tools/testbed/link.bpf.c $(O)/bpf/vmlinux.h
	@mkdir -p $(@D)
	@echo "  BPF     $@"
	@$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

guest: $(tb_link)
