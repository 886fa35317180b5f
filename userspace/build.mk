# SPDX-License-Identifier: GPL-2.0
# User space: libmpdpa, the command mpdpa, examples, tests.
#
# Included by the Makefile at the top, from where all paths count. Targets: lib,
# cmd, unit (test programs), check-userspace, check-userspace-guest,
# bench-sockopt-inside, bench-decision-inside, bench-scale-inside, install-userspace, uninstall-userspace.
# What other parts make and this one needs: $(O)/bpf/mpdpa.bpf.o and
# $(O)/bpf/sockopt.bpf.o.

O ?= out
PKG_CONFIG ?= pkg-config
BPFTOOL ?= bpftool
PYTHON ?= python3
MPDPA_VERSION ?= $(VERSION)
LIBDIR ?= $(PREFIX)/lib
ifeq ($(origin CC),default)
CC := gcc
endif

us_lib_sources := $(addprefix userspace/lib/,attr.c chunk.c conn.c ctl.c events.c genl.c info.c \
	monitor.c path.c pref.c probe.c send.c socket.c stat.c stream.c)
us_cmd_sources := $(addprefix userspace/cmd/,args.c bpflog.c checks.c checks_net.c checks_route.c conn.c connshow.c \
	connwords.c doctor.c json.c load.c main.c module.c monitor.c object.c options.c path.c \
	pathname.c pins.c pm.c rates.c route.c screen.c sockopts.c stat.c status.c system.c top.c unload.c)
us_tests := $(patsubst userspace/tests/%.c,$(O)/test/%,$(wildcard userspace/tests/*.c))
us_skeletons := $(O)/gen/mpdpa.skel.h $(O)/gen/sockopt.skel.h
us_man := $(wildcard Documentation/man/*.[1-9])
us_uapi := kernel/uapi/linux/mptcp_dpa.h kernel/uapi/linux/mptcp_dpa_sock.h

us_so_major := 0
us_so := libmpdpa.so.$(MPDPA_VERSION)
us_so_name := libmpdpa.so.$(us_so_major)

# CPPFLAGS, CFLAGS and LDFLAGS are the packager's. A later compiler may warn of
# more, which stops nobody but those who work on it, in the build environment.
US_CFLAGS ?= -O2 -g
US_WERROR ?= $(if $(MPDPA_BUILDENV),-Werror)
us_fortify = $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
us_theirs = $(CPPFLAGS) $(CFLAGS)
us_warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(US_WERROR)
us_cflags = -std=gnu11 $(us_warnings) -D_GNU_SOURCE $(us_fortify) \
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

.PHONY: lib cmd unit check-userspace check-userspace-guest us-need-mnl us-need-libbpf
.PHONY: install-userspace uninstall-userspace

lib: $(O)/lib/libmpdpa.a $(O)/lib/libmpdpa.so $(O)/lib/libmpdpa.pc
cmd: $(O)/bin/mpdpa $(O)/bin/example-deadline

us-need-mnl:
	@$(PKG_CONFIG) --exists libmnl || { \
		echo "missing: libmnl's headers (Debian: apt install libmnl-dev pkg-config)" >&2; \
		exit 1; }

us-need-libbpf:
	@$(PKG_CONFIG) --exists '$(us_libbpf_need)' || { \
		echo "missing: $(us_libbpf_need), static (make libbpf; Debian sid: apt install libbpf-dev;" \
		     "or build with: tools/vm/buildenv run -- make cmd)" >&2; exit 1; }
	@$(PKG_CONFIG) --exists libelf zlib libzstd || { \
		echo "missing: what libbpf needs (Debian: apt install libelf-dev zlib1g-dev" \
		     "libzstd-dev)" >&2; exit 1; }
	@command -v $(BPFTOOL) >/dev/null || { \
		echo "missing: bpftool (Debian: apt install bpftool)" >&2; exit 1; }

# --- library ---

us_lib_objects := $(us_lib_sources:userspace/lib/%.c=$(O)/lib/obj/%.o)
us_lib_pic := $(us_lib_sources:userspace/lib/%.c=$(O)/lib/pic/%.o)

$(O)/lib/obj/%.o: userspace/lib/%.c | us-need-mnl
	@mkdir -p $(@D)
	$(call us_say,CC)
	$(us_q)$(CC) $(us_cflags) $(us_theirs) -c -o $@ $<

$(O)/lib/pic/%.o: userspace/lib/%.c | us-need-mnl
	@mkdir -p $(@D)
	$(call us_say,CC)
	$(us_q)$(CC) $(us_cflags) $(us_theirs) -fPIC -c -o $@ $<

$(O)/lib/libmpdpa.a: $(us_lib_objects)
	@rm -f $@
	$(call us_say,AR)
	$(us_q)$(AR) rcs $@ $^

$(O)/lib/$(us_so): $(us_lib_pic) userspace/lib/libmpdpa.map
	$(call us_say,LINK)
	$(us_q)$(CC) $(CFLAGS) -shared -Wl,-soname,$(us_so_name) -Wl,--version-script=userspace/lib/libmpdpa.map \
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
	$(us_q)$(CC) $(us_cmd_cflags) $(us_theirs) -c -o $@ $<

$(O)/bin/mpdpa: $(us_cmd_objects) $(O)/lib/libmpdpa.a
	$(call us_say,LINK)
	$(us_q)$(CC) $(CFLAGS) -Wl,-z,relro,-z,now $(LDFLAGS) -o $@ $^ $(us_libbpf_libs) $(us_mnl_libs)

# --- examples and tests ---

# The example stands alone, as in the README: it needs the two headers only.
$(O)/bin/example-%: userspace/examples/%.c
	@mkdir -p $(@D)
	$(call us_say,LINK)
	$(us_q)$(CC) -std=gnu11 $(us_warnings) $(US_CFLAGS) -isystem kernel/uapi $(us_theirs) $(LDFLAGS) -o $@ $<

us_test_objects := $(addprefix $(O)/bin/obj/,args.o connshow.o connwords.o json.o options.o \
	pathname.o rates.o screen.o)

$(O)/test/%: userspace/tests/%.c $(us_test_objects) $(O)/lib/libmpdpa.a
	@mkdir -p $(@D)
	$(call us_say,LINK)
	$(us_q)$(CC) $(us_cmd_cflags) $(us_theirs) $(LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) $(us_mnl_libs)

unit: lib cmd $(us_tests)

check-userspace: unit
	MPDPA_OUT=$(abspath $(O)) $(PYTHON) -m pytest -q -p no:cacheprovider userspace/tests

# In a guest: loading and unloading, with objects that are refused in many ways,
# then options, netlink, events and lifetimes, by the Python bindings and by the
# kernel's own YNL client. TEST names some of userspace/tests/guest; default all.
us_guest := $(O)/test/guest
us_guest_scripts := load.sh doctor.py options.py netlink.py events.py lifetime.py command.py \
	guide.py
us_guest_helpers := all.sh ktap.py world.py complaints
us_guest_files := $(patsubst userspace/tests/guest/%.bpf.c,$(us_guest)/t/%.bpf.o, \
	$(wildcard userspace/tests/guest/*.bpf.c)) \
	$(addprefix $(us_guest)/t/,$(us_guest_scripts) $(us_guest_helpers) test_info test_socket poll_loop threads \
		guide_c guide.bpf.o set-a-deadline.md README.md mpdpa.service.in mpdpa@.service.in) \
	$(us_guest)/usr/local/lib/libmpdpa.so.0 $(us_guest)/t/ynl/stamp
us_linux ?= $(or $(MPDPA_LINUX),/usr/local/share/mpdpa/linux)

$(us_guest)/t/%.bpf.o: userspace/tests/guest/%.bpf.c userspace/tests/guest/sched.h \
		$(O)/bpf/vmlinux.h $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(call us_say,BPF)
	$(us_q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

$(us_guest)/t/test_info $(us_guest)/t/test_socket: $(us_guest)/t/%: $(O)/test/%
	@mkdir -p $(@D)
	@cp $< $@

$(us_guest)/t/%.in: userspace/systemd/%.in
	@mkdir -p $(@D)
	@cp $< $@

$(us_guest)/t/%.md: Documentation/%.md
	@mkdir -p $(@D)
	@cp $< $@

$(us_guest)/t/README.md: README.md
	@mkdir -p $(@D)
	@cp $< $@

$(us_guest)/t/complaints: selftests/complaints
	@mkdir -p $(@D)
	@cp $< $@

# the guides' programs in C, as they stand
$(O)/test/guide_c.c: Documentation/set-a-deadline.md
$(O)/test/guide.bpf.c: Documentation/bpf-schedulers.md
$(O)/test/guide_c.c $(O)/test/guide.bpf.c:
	@mkdir -p $(@D)
	@sed -n '/^```c$$/,/^```$$/{/^```/!p;}' $< >$@

$(us_guest)/t/guide.bpf.o: $(O)/test/guide.bpf.c $(O)/bpf/vmlinux.h $(BPF_HEADERS)
	@mkdir -p $(@D)
	$(call us_say,BPF)
	$(us_q)$(BPF_CLANG) $(BPF_CFLAGS) -c $< -o $@

$(us_guest)/t/%: userspace/tests/guest/%
	@mkdir -p $(@D)
	@cp $< $@

# C programs of the tests and benches; static, so that the guest needs nothing.
us_guest_program = mkdir -p $(@D) && $(CC) $(us_cflags) $(us_theirs) $(LDFLAGS) -static -pthread -o $@ \
	$(filter %.c %.a,$^) $(us_mnl_libs)

$(us_guest)/t/%: userspace/tests/guest/%.c $(O)/lib/libmpdpa.a
	$(call us_say,LINK)
	$(us_q)$(us_guest_program)

$(us_guest)/t/%: $(O)/test/%.c $(O)/lib/libmpdpa.a
	$(call us_say,LINK)
	$(us_q)$(us_guest_program)

# the library and its Python bindings, where both are looked for
$(us_guest)/usr/local/lib/libmpdpa.so.0: $(O)/lib/libmpdpa.so $(wildcard userspace/python/mpdpa/*)
	@mkdir -p $(@D) $(us_guest)/t
	@cp -L $< $@
	@rm -rf $(us_guest)/t/mpdpa && cp -r userspace/python/mpdpa $(us_guest)/t/

# the kernel's YNL client, our spec, and a YAML parser in Python for it
$(us_guest)/t/ynl/stamp: Documentation/netlink/specs/mptcp_dpa.yaml
	@rm -rf $(@D) && mkdir -p $(@D)
	@cp -r $(us_linux)/tools/net/ynl/pyynl $(@D)/
	@cp $(us_linux)/Documentation/netlink/*.yaml $< $(@D)/
	@cp -r $$($(PYTHON) -c 'import yaml, os; print(os.path.dirname(yaml.__file__))') $(@D)/
	@rm -f $(@D)/yaml/*.so && touch $@

us_guest_run = tools/vm/guest run --overlay $(O)/guest --overlay $(us_guest)
TEST ?= $(us_guest_scripts)

check-userspace-guest: $(us_guest_files) guest
	$(us_guest_run) --clock virtual --timeout 580 -- /t/all.sh $(TEST)

# --- benches, in a guest ---

us_bench := $(O)/test/bench
.PHONY: bench-sockopt-inside bench-decision-inside bench-scale-inside check-scale

$(us_bench)/b/%: userspace/bench/%.c $(O)/lib/libmpdpa.a
	$(call us_say,LINK)
	$(us_q)$(us_guest_program)

$(us_bench)/b/%.sh: userspace/bench/%.sh
	@mkdir -p $(@D)
	@cp $< $@

# sizeof of what the module keeps for a connection, by the kernel's own compiler flags
$(us_bench)/b/sizes: userspace/bench/sizes.c $(wildcard kernel/*.h kernel/uapi/linux/*.h)
	@mkdir -p $(us_bench)/sizes $(@D)
	@cp $< Kbuild $(us_bench)/sizes/ && cp -r kernel $(us_bench)/sizes/
	@cp $< $(us_bench)/sizes/kernel/sizes.c
	@$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(us_bench)/sizes) KCFLAGS=-g0 \
		kernel/sizes.s >/dev/null
	@sed -n 's/.*"->struct \([a-z_]*\) \$$*\([0-9]*\)".*/sizeof(struct \1): \2/p' \
		$(us_bench)/sizes/kernel/sizes.s >$@

# The guest's clock counts instructions, so that the numbers are exact.
bench-sockopt-inside: $(us_bench)/b/sockopt guest
	tools/vm/guest run --clock virtual --timeout 300 --overlay $(O)/guest --overlay $(us_bench) \
		--results $(us_bench)/sockopt -- sh -c 'insmod /usr/local/lib/mpdpa/mptcp_dpa.ko && \
		/b/sockopt >/results/table && cat /results/table && uname -r >/results/kernel'
	userspace/bench/document.sh bench-sockopt $(us_bench)/sockopt Documentation/sockopt-cost.md

us_decision := $(O)/bench-decision
bench-decision-inside: guest
	tools/vm/guest run --clock virtual --timeout 580 --overlay $(O)/guest --overlay $(O)/selftests \
		--results $(us_decision) -- sh -c 'cd /opt/mpdpa/selftests && \
		./decision_cost.sh >/results/ktap && uname -r >/results/kernel' || \
		{ cat $(us_decision)/ktap; exit 1; }
	@{ echo '| paths | default | burst | mpdpa | mpdpa, with a chunk |'; echo '|---|---|---|---|---|'; \
		sed -n 's/^# |/|/p' $(us_decision)/ktap; } >$(us_decision)/table
	@cat $(us_decision)/table
	userspace/bench/document.sh bench-decision $(us_decision) Documentation/decision-cost.md

# CONNECTIONS=N for another number than 10000. The kernel's table of tokens, two a
# connection here, grows with the memory; little of it is touched.
us_scale = tools/vm/guest run --clock virtual --timeout 580 --overlay $(O)/guest \
	--overlay $(us_bench) --memory
bench-scale-inside: $(addprefix $(us_bench)/b/,scale scale.sh sizes) guest
	$(us_scale) 12288 -- /b/scale.sh /usr/local/lib/mpdpa/mptcp_dpa.ko $(CONNECTIONS)

# the same with fewer connections, for machines with less memory
check-scale: $(addprefix $(us_bench)/b/,scale scale.sh sizes) guest
	$(us_scale) 3072 -- /b/scale.sh /usr/local/lib/mpdpa/mptcp_dpa.ko 2000

# --- installation ---

us_dest := $(DESTDIR)$(PREFIX)
us_completion := share/bash-completion/completions

us_units := mpdpa.service mpdpa@.service
us_unit_dir := $(us_dest)/lib/systemd/system

install-userspace: lib cmd
	install -d $(us_dest)/sbin $(us_dest)/include/linux $(us_dest)/$(us_completion) \
		$(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 755 $(O)/bin/mpdpa $(us_dest)/sbin/
	install -m 644 $(O)/lib/libmpdpa.a $(O)/lib/$(us_so) $(DESTDIR)$(LIBDIR)/
	ln -sf $(us_so) $(DESTDIR)$(LIBDIR)/$(us_so_name)
	ln -sf $(us_so_name) $(DESTDIR)$(LIBDIR)/libmpdpa.so
	install -m 644 $(O)/lib/libmpdpa.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	install -m 644 userspace/lib/mpdpa.h $(us_dest)/include/
	install -m 644 $(us_uapi) $(us_dest)/include/linux/
	install -m 644 userspace/cmd/completion.bash $(us_dest)/$(us_completion)/mpdpa
	install -d $(us_unit_dir)
	for unit in $(us_units); do \
		sed 's|@prefix@|$(PREFIX)|' userspace/systemd/$$unit.in >$(us_unit_dir)/$$unit; \
		chmod 644 $(us_unit_dir)/$$unit; \
	done
	userspace/man.sh install $(us_dest)/share/man $(us_man)
	$(if $(DESTDIR),,ldconfig)

uninstall-userspace:
	rm -f $(us_dest)/sbin/mpdpa $(us_dest)/include/mpdpa.h $(us_dest)/$(us_completion)/mpdpa
	rm -f $(addprefix $(us_dest)/include/linux/,$(notdir $(us_uapi)))
	rm -f $(DESTDIR)$(LIBDIR)/libmpdpa.* $(DESTDIR)$(LIBDIR)/pkgconfig/libmpdpa.pc
	rm -f $(addprefix $(us_unit_dir)/,$(us_units))
	userspace/man.sh uninstall $(us_dest)/share/man $(us_man)
	$(if $(DESTDIR),,ldconfig)

.PHONY: FORCE
FORCE:

-include $(wildcard $(O)/lib/obj/*.d $(O)/lib/pic/*.d $(O)/bin/obj/*.d $(O)/test/*.d)
