/* SPDX-License-Identifier: GPL-2.0 */
/* BPF objects: those built into the command, and files. */
#ifndef MPDPA_CMD_OBJECT_H
#define MPDPA_CMD_OBJECT_H

#include <bpf/libbpf.h>

/* As in the kernel, the terminating zero included. */
#define SCHED_NAME_SIZE		16
#define OBJECT_SCHEDS_MAX	16

struct object_sched {
	struct bpf_map *map;
	char name[SCHED_NAME_SIZE];	/* of the scheduler, not of the map */
};

/* NULL with errno set. */
struct bpf_object *object_open_scheduler(void);
struct bpf_object *object_open_sockopt(void);
struct bpf_object *object_open_file(const char *path);

/*
 * Finds the schedulers of an object that is not loaded yet, readies those that
 * fit the running kernel for a link and leaves the others out. Their number, at
 * most OBJECT_SCHEDS_MAX, or -errno; -EOPNOTSUPP if there are some but none fits.
 */
int object_schedulers(struct bpf_object *object, struct object_sched *scheds);

#endif /* MPDPA_CMD_OBJECT_H */
