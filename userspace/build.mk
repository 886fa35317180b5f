# SPDX-License-Identifier: GPL-2.0
# User space: libmpdpa, the command mpdpa, examples, tests.
#
# Included by the Makefile at the top, from where all paths count. Targets: lib,
# cmd, examples, check-userspace, install-userspace. What other parts make and
# this one needs: $(O)/bpf/mpdpa.bpf.o and $(O)/bpf/sockopt.bpf.o.

O ?= out
PKG_CONFIG ?= pkg-config
BPFTOOL ?= bpftool
PYTHON ?= python3
MPDPA_VERSION ?= 0.1.0
DESTDIR ?=
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
ifeq ($(origin CC),default)
CC := gcc
endif

us_lib_sources := $(addprefix userspace/lib/,chunk.c genl.c info.c path.c probe.c socket.c)
us_cmd_sources := $(addprefix userspace/cmd/,args.c bpflog.c checks.c checks_net.c doctor.c \
	json.c load.c main.c object.c options.c path.c pins.c pm.c status.c system.c unload.c)
us_tests := $(patsubst userspace/tests/%.c,$(O)/test/%,$(wildcard userspace/tests/*.c))
us_skeletons := $(O)/gen/mpdpa.skel.h $(O)/gen/sockopt.skel.h
us_man := $(wildcard Documentation/man/*.[1-9])

us_so_major := 0
us_so := libmpdpa.so.$(MPDPA_VERSION)
us_so_name := libmpdpa.so.$(us_so_major)

US_CFLAGS ?= -O2 -g
US_WERROR ?= -Werror
us_warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(US_WERROR)
us_cflags = -std=gnu11 $(us_warnings) -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 \
	-fstack-protector-strong -MMD -MP -Iuserspace/lib -Ikernel/uapi $(US_CFLAGS)
us_cmd_cflags = $(us_cflags) -Iuserspace/cmd -isystem $(O)/gen \
	-DMPDPA_VERSION='"$(MPDPA_VERSION)"' $(us_libbpf_cflags)

# libbpf is linked statically: a distribution's is often too old for struct_ops
# whose type is in a module.
us_libbpf_need := libbpf >= 1.7
us_libbpf_cflags = $(shell $(PKG_CONFIG) --cflags libbpf 2>/dev/null)
us_libbpf_libs = $(shell $(PKG_CONFIG) --variable=libdir libbpf 2>/dev/null)/libbpf.a \
	-lelf -lz -lzstd
us_mnl_libs = $(shell $(PKG_CONFIG) --libs libmnl 2>/dev/null)

# V=1 shows the commands.
us_q := $(if $(filter-out 0,$(V)),,@)
us_say = $(if $(us_q),@printf '  %-8s %s\n' $(1) $@)

.PHONY: lib cmd examples check-userspace install-userspace clean-userspace
.PHONY: us-need-mnl us-need-libbpf

lib: $(O)/lib/libmpdpa.a $(O)/lib/libmpdpa.so $(O)/lib/libmpdpa.pc
cmd: $(O)/bin/mpdpa
examples: $(O)/bin/example-deadline

us-need-mnl:
	@$(PKG_CONFIG) --exists libmnl || { \
		echo "missing: libmnl's headers (Debian: apt install libmnl-dev pkg-config)" >&2; \
		exit 1; }

us-need-libbpf:
	@$(PKG_CONFIG) --exists '$(us_libbpf_need)' || { \
		echo "missing: $(us_libbpf_need), static (Debian sid: apt install libbpf-dev;" \
		     "or build with: tools/vm/buildenv run -- make cmd)" >&2; exit 1; }
	@command -v $(BPFTOOL) >/dev/null || { \
		echo "missing: bpftool (Debian: apt install bpftool)" >&2; exit 1; }

# --- library ---

us_lib_objects := $(us_lib_sources:userspace/lib/%.c=$(O)/lib/obj/%.o)
us_lib_pic := $(us_lib_sources:userspace/lib/%.c=$(O)/lib/pic/%.o)

$(O)/lib/obj/%.o: userspace/lib/%.c | us-need-mnl
	@mkdir -p $(@D)
	$(call us_say,CC)
	$(us_q)$(CC) $(us_cflags) -c -o $@ $<

$(O)/lib/pic/%.o: userspace/lib/%.c | us-need-mnl
	@mkdir -p $(@D)
	$(call us_say,CC)
	$(us_q)$(CC) $(us_cflags) -fPIC -c -o $@ $<

$(O)/lib/libmpdpa.a: $(us_lib_objects)
	@rm -f $@
	$(call us_say,AR)
	$(us_q)$(AR) rcs $@ $^

$(O)/lib/$(us_so): $(us_lib_pic) userspace/lib/libmpdpa.map
	$(call us_say,LINK)
	$(us_q)$(CC) -shared -Wl,-soname,$(us_so_name) -Wl,--version-script=userspace/lib/libmpdpa.map \
		-Wl,-z,defs -Wl,-z,relro,-z,now $(LDFLAGS) -o $@ $(us_lib_pic) $(us_mnl_libs)

$(O)/lib/libmpdpa.so: $(O)/lib/$(us_so)
	@ln -sf $(us_so) $(@D)/$(us_so_name)
	@ln -sf $(us_so_name) $@

$(O)/lib/libmpdpa.pc: userspace/lib/libmpdpa.pc.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(LIBDIR)|' \
		-e 's|@includedir@|$(PREFIX)/include|' -e 's|@version@|$(MPDPA_VERSION)|' $< >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# --- command ---

us_cmd_objects := $(us_cmd_sources:userspace/cmd/%.c=$(O)/bin/obj/%.o)

$(O)/gen/%.skel.h: $(O)/bpf/%.bpf.o | us-need-libbpf
	@mkdir -p $(@D)
	$(call us_say,SKEL)
	$(us_q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@.new
	@mv $@.new $@

$(O)/bin/obj/object.o: $(us_skeletons)

$(O)/bin/obj/%.o: userspace/cmd/%.c | us-need-libbpf us-need-mnl
	@mkdir -p $(@D)
	$(call us_say,CC)
	$(us_q)$(CC) $(us_cmd_cflags) -c -o $@ $<

$(O)/bin/mpdpa: $(us_cmd_objects) $(O)/lib/libmpdpa.a
	$(call us_say,LINK)
	$(us_q)$(CC) -Wl,-z,relro,-z,now $(LDFLAGS) -o $@ $^ $(us_libbpf_libs) $(us_mnl_libs)

# --- examples and tests ---

# The example stands alone, as in the README: it needs the two headers only.
$(O)/bin/example-%: userspace/examples/%.c
	@mkdir -p $(@D)
	$(call us_say,LINK)
	$(us_q)$(CC) -std=gnu11 $(us_warnings) $(US_CFLAGS) -isystem kernel/uapi $(LDFLAGS) -o $@ $<

$(O)/test/%: userspace/tests/%.c $(O)/bin/obj/args.o $(O)/bin/obj/json.o \
		$(O)/bin/obj/options.o $(O)/lib/libmpdpa.a
	@mkdir -p $(@D)
	$(call us_say,LINK)
	$(us_q)$(CC) $(us_cmd_cflags) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(us_mnl_libs)

check-userspace: lib cmd examples $(us_tests)
	MPDPA_OUT=$(abspath $(O)) $(PYTHON) -m pytest -q -p no:cacheprovider userspace/tests

# --- installation ---

install-userspace: lib cmd
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/linux \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 755 $(O)/bin/mpdpa $(DESTDIR)$(PREFIX)/sbin/
	install -m 644 $(O)/lib/libmpdpa.a $(O)/lib/$(us_so) $(DESTDIR)$(LIBDIR)/
	ln -sf $(us_so) $(DESTDIR)$(LIBDIR)/$(us_so_name)
	ln -sf $(us_so_name) $(DESTDIR)$(LIBDIR)/libmpdpa.so
	install -m 644 $(O)/lib/libmpdpa.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 userspace/lib/mpdpa.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 kernel/uapi/linux/mptcp_dpa.h kernel/uapi/linux/mptcp_dpa_sock.h \
		$(DESTDIR)$(PREFIX)/include/linux/
	install -m 644 userspace/cmd/completion.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/mpdpa
	for page in $(us_man); do \
		install -D -m 644 $$page \
			$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; \
	done

clean-userspace:
	rm -rf $(O)/lib $(O)/bin $(O)/gen $(O)/test

.PHONY: FORCE
FORCE:

-include $(wildcard $(O)/lib/obj/*.d $(O)/lib/pic/*.d $(O)/bin/obj/*.d $(O)/test/*.d)
