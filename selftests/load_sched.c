// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_sched OBJECT DIRECTORY [again]: loads a scheduler as any program with
 * libbpf would, knowing nothing of mptcp_dpa, and pins its links by the names of
 * the struct_ops. Exit status 0: all are attached. "again" attaches each three
 * times: the second while the first is there, which must fail with EBUSY, the third
 * when that is gone.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

/* Attaches it twice at a time, and no more in the end. */
static int attach_in_vain(struct bpf_map *map)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map), *second;
	int err = 0;

	if (!link)
		return -errno;
	second = bpf_map__attach_struct_ops(map);
	if (second || errno != EBUSY)
		err = second ? -EEXIST : -errno;
	bpf_link__destroy(second);
	bpf_link__destroy(link);
	return err;
}

static int attach_one(struct bpf_map *map, const char *directory, bool again)
{
	char path[256];
	struct bpf_link *link;
	int err = again ? attach_in_vain(map) : 0;

	if (err)
		return err;
	link = bpf_map__attach_struct_ops(map);
	if (!link)
		return -errno;
	snprintf(path, sizeof(path), "%s/%s", directory, bpf_map__name(map));
	err = bpf_link__pin(link, path);
	bpf_link__destroy(link);
	return err;
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_map *map;
	int err, attached = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: load_sched OBJECT DIRECTORY [again]\n");
		return 2;
	}
	object = bpf_object__open_file(argv[1], NULL);
	err = object ? bpf_object__load(object) : -errno;
	if (!err) {
		bpf_object__for_each_map(map, object) {
			if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
				continue;
			err = attach_one(map, argv[2], argc > 3);
			if (err)
				break;
			attached++;
		}
	}
	bpf_object__close(object);
	if (err)
		fprintf(stderr, "load_sched: %s: %s\n", argv[1], strerror(-err));
	return err || !attached;
}
