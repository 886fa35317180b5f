// SPDX-License-Identifier: GPL-2.0-only
#include "pr_fmt.h"

#include <linux/kprobes.h>
#include <linux/module.h>

#include "symbols.h"

#define DPA_DEFINE_FUNCTION(ret, name, args)				\
	DEFINE_STATIC_CALL_NULL(dpa_##name, dpa_proto_##name);
DPA_FUNCTIONS(DPA_DEFINE_FUNCTION)

#define DPA_DEFINE_OBJECT(type, name)	type *dpa_##name;
DPA_OBJECTS(DPA_DEFINE_OBJECT)

unsigned long dpa_proto_lookup(const char *name);
DEFINE_STATIC_CALL_NULL(dpa_lookup, dpa_proto_lookup);

/* A kprobe that is never armed tells where a function of the kernel lies. */
static void *find_lookup(void)
{
	struct kprobe probe = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	void *addr;
	int err;

	err = register_kprobe(&probe);
	if (err)
		return ERR_PTR(err);
	addr = probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

static void *find_symbol(const char *name)
{
	void *addr = (void *)static_call(dpa_lookup)(name);

	if (!addr)
		pr_err("this kernel has no symbol %s\n", name);
	return addr;
}

/**
 * symbols_init() - find everything in DPA_FUNCTIONS and DPA_OBJECTS
 *
 * Context: module init, may sleep.
 * Return: 0, or -ENOENT after one line in the log that names what is missing.
 */
int symbols_init(void)
{
	void *addr = find_lookup();

	if (IS_ERR(addr)) {
		pr_err("cannot look up kernel symbols: kprobes refused (%pe)\n",
		       addr);
		return -ENOENT;
	}
	static_call_update(dpa_lookup, (typeof(&dpa_proto_lookup))addr);

#define DPA_FIND_FUNCTION(ret, name, args)				\
	addr = find_symbol(#name);					\
	if (!addr)							\
		return -ENOENT;						\
	static_call_update(dpa_##name, (typeof(&dpa_proto_##name))addr);
	DPA_FUNCTIONS(DPA_FIND_FUNCTION)

#define DPA_FIND_OBJECT(type, name)					\
	dpa_##name = find_symbol(#name);				\
	if (!dpa_##name)						\
		return -ENOENT;
	DPA_OBJECTS(DPA_FIND_OBJECT)

	return 0;
}
