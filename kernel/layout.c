// SPDX-License-Identifier: GPL-2.0-only
/* Compares the structures of msk.c with the running kernel's BTF. */
#include "pr_fmt.h"

#include <linux/bitmap.h>
#include <linux/btf.h>

#include "layout.h"
#include "msk.h"
#include "symbols.h"

#define ANONYMOUS_DEPTH_MAX	4

/* skips typedefs and qualifiers */
static const struct btf_type *strip(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_by_id(btf, id);

	while (t && !btf_type_is_struct(t) && t->type &&
	       BTF_INFO_KIND(t->info) >= BTF_KIND_TYPEDEF &&
	       BTF_INFO_KIND(t->info) <= BTF_KIND_RESTRICT)
		t = btf_type_by_id(btf, t->type);
	return t;
}

/* Where a member begins, in bits, looked for in anonymous ones, too; -1: none. */
static int member_bit(const struct btf *btf, const struct btf_type *t,
		      const char *name, int depth)
{
	const struct btf_member *m;
	int i;

	for_each_member(i, t, m) {
		const char *found = kernel_fn(btf_name_by_offset)(btf, m->name_off);
		u32 at = __btf_member_bit_offset(t, m);
		const struct btf_type *inner;
		int off;

		if (found && *found) {
			if (!strcmp(found, name))
				return at;
			continue;
		}
		inner = strip(btf, m->type);
		if (!inner || !btf_type_is_struct(inner) || depth <= 0)
			continue;
		off = member_bit(btf, inner, name, depth - 1);
		if (off >= 0)
			return at + off;
	}
	return -1;
}

/* Where the build has it. Flags fill words from their least bit on: little-endian. */
static int built_bit(const struct msk_field *f)
{
	return f->flag ? find_first_bit(f->flag, f->size * BITS_PER_BYTE) :
			 f->offset * BITS_PER_BYTE;
}

static int check_member(const struct btf *btf, const struct btf_type *t,
			const struct msk_field *f)
{
	int bit = member_bit(btf, t, f->member, ANONYMOUS_DEPTH_MAX);
	int built = built_bit(f);

	if (bit < 0) {
		pr_err("this kernel's struct %s has no member %s\n",
		       f->type, f->member);
		return -EINVAL;
	}
	if (bit != built) {
		pr_err("this kernel has %s::%s at byte %d, bit %d, the module was built for %d, %d\n",
		       f->type, f->member, bit / BITS_PER_BYTE,
		       bit % BITS_PER_BYTE, built / BITS_PER_BYTE,
		       built % BITS_PER_BYTE);
		return -EINVAL;
	}
	return 0;
}

static int check_field(const struct msk_field *f)
{
	const struct btf_type *t;
	struct btf *btf = NULL;
	int err = 0;
	s32 id;

	id = kernel_fn(bpf_find_btf_id)(f->type, BTF_KIND_STRUCT, &btf);
	if (id < 0) {
		pr_err("this kernel's BTF has no struct %s: no MPTCP, or no BTF\n",
		       f->type);
		return -EINVAL;
	}
	t = btf_type_by_id(btf, id);
	if (f->member) {
		err = check_member(btf, t, f);
	} else if (t->size != f->size) {
		pr_err("this kernel's struct %s has %u bytes, the module was built for %u\n",
		       f->type, t->size, f->size);
		err = -EINVAL;
	}
	kernel_fn(btf_put)(btf);
	return err;
}

/**
 * layout_init() - refuse a kernel whose structures are not those of the build
 *
 * Context: module init, may sleep.
 * Return: 0, or -EINVAL after one line in the log that names the difference.
 */
int layout_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < msk_fields_count; i++) {
		err = check_field(&msk_fields[i]);
		if (err)
			return err;
	}
	return 0;
}
