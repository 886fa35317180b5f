// SPDX-License-Identifier: GPL-2.0-only
/*
 * load_sched OBJECT DIRECTORY: loads a scheduler as any program with libbpf
 * would, knowing nothing of mptcp_dpa, and pins its links by the names of the
 * struct_ops. Exit status 0: all are attached.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

static int attach_one(struct bpf_map *map, const char *directory)
{
	char path[256];
	struct bpf_link *link;
	int err;

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

	if (argc != 3) {
		fprintf(stderr, "usage: load_sched OBJECT DIRECTORY\n");
		return 2;
	}
	object = bpf_object__open_file(argv[1], NULL);
	err = object ? bpf_object__load(object) : -errno;
	if (!err) {
		bpf_object__for_each_map(map, object) {
			if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
				continue;
			err = attach_one(map, argv[2]);
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
