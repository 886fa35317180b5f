// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <bpf/btf.h>
#include <linux/bpf.h>

#include "mpdpa.skel.h"
#include "object.h"
#include "sockopt.skel.h"

#define OPS_TYPE	"mptcp_sched_ops"

struct bpf_object *object_open_scheduler(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "mpdpa");
	size_t size;
	const void *bytes = mpdpa_bpf__elf_bytes(&size);

	return bpf_object__open_mem(bytes, size, &options);
}

struct bpf_object *object_open_sockopt(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "mpdpa_sockopt");
	size_t size;
	const void *bytes = sockopt_bpf__elf_bytes(&size);

	return bpf_object__open_mem(bytes, size, &options);
}

struct bpf_object *object_open_file(const char *path)
{
	return bpf_object__open_file(path, NULL);
}

/* The type of a struct_ops variable, NULL if it is not a scheduler. */
static const struct btf_type *ops_type(const struct btf *btf, __u32 var_id)
{
	const struct btf_type *var = btf__type_by_id(btf, var_id);
	const struct btf_type *type;
	const char *name;
	int id;

	id = btf__resolve_type(btf, var->type);
	type = id < 0 ? NULL : btf__type_by_id(btf, id);
	if (!type || !btf_is_struct(type))
		return NULL;
	name = btf__name_by_offset(btf, type->name_off);
	/* "type___flavour" stands for "type", as everywhere in CO-RE. */
	if (strncmp(name, OPS_TYPE, strlen(OPS_TYPE)))
		return NULL;
	name += strlen(OPS_TYPE);
	return !*name || !strncmp(name, "___", 3) ? type : NULL;
}

/* The same, by the name of the variable, which is that of the map. */
static const struct btf_type *find_ops_type(const struct btf *btf, const char *map_name)
{
	__u32 id, i, count = btf__type_cnt(btf);

	for (id = 1; id < count; id++) {
		const struct btf_type *section = btf__type_by_id(btf, id);
		const struct btf_var_secinfo *info;

		if (!btf_is_datasec(section))
			continue;
		info = btf_var_secinfos(section);
		for (i = 0; i < btf_vlen(section); i++) {
			const struct btf_type *var = btf__type_by_id(btf, info[i].type);

			if (!strcmp(btf__name_by_offset(btf, var->name_off), map_name))
				return ops_type(btf, info[i].type);
		}
	}
	return NULL;
}

static bool read_name(const struct btf *btf, const struct btf_type *type, struct bpf_map *map,
		      char name[SCHED_NAME_SIZE])
{
	const struct btf_member *member = btf_members(type);
	const char *value;
	size_t size, at;
	__u32 i;

	value = bpf_map__initial_value(map, &size);
	for (i = 0; value && i < btf_vlen(type); i++) {
		if (strcmp(btf__name_by_offset(btf, member[i].name_off), "name"))
			continue;
		at = btf_member_bit_offset(type, i) / 8;
		if (at + SCHED_NAME_SIZE > size)
			return false;
		memcpy(name, value + at, SCHED_NAME_SIZE);
		/* one that fills its room has no end */
		return !name[SCHED_NAME_SIZE - 1];
	}
	return false;
}

/* What the kernel takes for the name of a scheduler and of a pin. */
static bool good_name(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return at > name;
}

static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_member *member = btf_members(type);
	__u32 i;

	for (i = 0; i < btf_vlen(type); i++) {
		if (!strcmp(btf__name_by_offset(btf, member[i].name_off), name))
			return true;
	}
	return false;
}

/*
 * Whether the running kernel's schedulers have all of the members. An object
 * for several kernels holds a scheduler more than once, in flavours of the type.
 */
static bool fits_kernel(const struct btf *kernel, const struct btf *btf,
			const struct btf_type *type)
{
	__s32 id = kernel ? btf__find_by_name_kind(kernel, OPS_TYPE, BTF_KIND_STRUCT) : -1;
	const struct btf_member *member = btf_members(type);
	__u32 i;

	/* It is for the kernel to say what it lacks. */
	if (id < 0)
		return true;
	for (i = 0; i < btf_vlen(type); i++) {
		if (!has_member(kernel, btf__type_by_id(kernel, id),
				btf__name_by_offset(btf, member[i].name_off)))
			return false;
	}
	return true;
}

static int add_sched(const struct btf *btf, const struct btf_type *type, struct bpf_map *map,
		     struct object_sched *scheds, int count)
{
	struct object_sched *sched = &scheds[count];

	if (count == OBJECT_SCHEDS_MAX)
		return -E2BIG;
	if (!read_name(btf, type, map, sched->name) || !good_name(sched->name))
		return -EINVAL;
	sched->map = map;
	/* Objects of the older kind, without a link, would stay for ever. */
	bpf_map__set_map_flags(map, bpf_map__map_flags(map) | BPF_F_LINK);
	return 0;
}

int object_schedulers(struct bpf_object *object, struct object_sched *scheds)
{
	const struct btf *btf = bpf_object__btf(object);
	struct btf *kernel = btf__load_vmlinux_btf();
	int count = 0, unfit = 0, err = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, object) {
		const struct btf_type *type = NULL;

		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS && btf)
			type = find_ops_type(btf, bpf_map__name(map));
		if (!type)
			continue;
		bpf_map__set_autocreate(map, fits_kernel(kernel, btf, type));
		if (!bpf_map__autocreate(map)) {
			unfit++;
			continue;
		}
		err = add_sched(btf, type, map, scheds, count);
		if (err)
			break;
		count++;
	}
	btf__free(kernel);
	if (!err && !count && unfit)
		err = -EOPNOTSUPP;
	return err ?: count;
}
