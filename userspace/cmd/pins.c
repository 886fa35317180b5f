// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "pins.h"

void pins_path(char path[PIN_PATH_SIZE], const char *name)
{
	snprintf(path, PIN_PATH_SIZE, PINS_DIR "/%s", name);
}

/* What a pin is, as far as the kernel tells this process. */
static int describe(struct pin *pin)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	int fd, err;

	fd = bpf_obj_get(pin->path);
	if (fd < 0)
		return -errno;
	err = bpf_link_get_info_by_fd(fd, &info, &size);
	close(fd);
	/* Not a link: a program or map that somebody pinned here. */
	if (err)
		return 0;
	pin->link_id = info.id;
	pin->prog_id = info.prog_id;
	if (info.type == BPF_LINK_TYPE_STRUCT_OPS) {
		pin->kind = PIN_KIND_SCHED;
		pin->map_id = info.struct_ops.map_id;
	} else if (info.type == BPF_LINK_TYPE_CGROUP) {
		pin->kind = PIN_KIND_SOCKOPT;
		pin->cgroup_id = info.cgroup.cgroup_id;
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct pin *left = a, *right = b;

	if (left->kind != right->kind)
		return (int)left->kind - (int)right->kind;
	return (left->link_id > right->link_id) - (left->link_id < right->link_id);
}

static int read_dir(DIR *dir, struct pins *pins)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct pin *pin = &pins->pin[pins->count];
		int err;

		if (entry->d_name[0] == '.')
			continue;
		if (pins->count == PINS_MAX)
			return -E2BIG;
		*pin = (struct pin){ .kind = PIN_KIND_UNKNOWN };
		pins_path(pin->path, entry->d_name);
		err = entry->d_type == DT_DIR ? 0 : describe(pin);
		/* Removed by somebody else a moment ago. */
		if (err == -ENOENT)
			continue;
		if (err)
			return err == -EPERM ? -EACCES : err;
		pins->count++;
	}
	return 0;
}

int pins_read(struct pins *pins)
{
	DIR *dir = opendir(PINS_DIR);
	int err;

	pins->count = 0;
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	err = read_dir(dir, pins);
	closedir(dir);
	qsort(pins->pin, pins->count, sizeof(pins->pin[0]), compare);
	return err;
}

const char *pins_error_text(int err)
{
	return err == -ENOTDIR ? "no directory, something else is pinned there" : strerror(-err);
}

const struct pin *pins_find(const struct pins *pins, const char *name)
{
	int i;

	for (i = 0; i < pins->count; i++) {
		if (!strcmp(pin_name(&pins->pin[i]), name))
			return &pins->pin[i];
	}
	return NULL;
}

bool pins_has(const struct pins *pins, const char *name, enum pin_kind kind)
{
	const struct pin *pin = pins_find(pins, name);

	return pin && pin->kind == kind;
}

/* Both programs of the socket options. */
bool pins_have_sockopt(const struct pins *pins)
{
	return pins_has(pins, PIN_SETSOCKOPT, PIN_KIND_SOCKOPT) &&
	       pins_has(pins, PIN_GETSOCKOPT, PIN_KIND_SOCKOPT);
}

int pins_make_dir(void)
{
	if (mkdir(PINS_DIR, 0755) && errno != EEXIST)
		return -errno;
	return 0;
}

void pins_remove_dir(void)
{
	rmdir(PINS_DIR);
}
