# SPDX-License-Identifier: GPL-2.0-only
KDIR ?= /lib/modules/$(shell uname -r)/build
KREL ?= $(shell uname -r)
O := out
DPA_VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
MODULE_DIR := $(O)/module/$(KREL)
modules:
	@mkdir -p $(MODULE_DIR)/kernel/uapi/linux
	@cp -u Kbuild $(MODULE_DIR)/
	@cp -u kernel/*.[ch] $(MODULE_DIR)/kernel/
	@cp -u kernel/uapi/linux/*.h $(MODULE_DIR)/kernel/uapi/linux/
	+$(MAKE) -C $(KDIR) M=$(abspath $(MODULE_DIR)) DPA_VERSION=$(DPA_VERSION) KCFLAGS=-g0 modules
BPF_CLANG ?= clang-19
BPF_OBJS := $(patsubst bpf/%.bpf.c,$(O)/bpf/%.bpf.o,$(wildcard bpf/*.bpf.c))
bpf: $(BPF_OBJS)
$(O)/bpf/vmlinux.h: $(KDIR)/vmlinux
	@mkdir -p $(@D)
	bpftool btf dump file $< format c > $@.tmp && mv $@.tmp $@
$(O)/bpf/%.bpf.o: bpf/%.bpf.c $(O)/bpf/vmlinux.h $(wildcard bpf/*.h kernel/state.h kernel/uapi/linux/*.h)
	$(BPF_CLANG) --target=bpf -mcpu=v3 -O2 -g -Wall -fms-extensions -Wno-microsoft-anon-tag -D__TARGET_ARCH_x86 -I$(O)/bpf -Ibpf -Ikernel -Ikernel/uapi -I/usr/local/include -c $< -o $@
