/* SPDX-License-Identifier: GPL-2.0 */
/* What "mpdpa load" left attached: links pinned below one directory of bpffs. */
#ifndef MPDPA_CMD_PINS_H
#define MPDPA_CMD_PINS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "system.h"

#define PINS_DIR		BPFFS_DIR "/mpdpa"
#define PIN_SETSOCKOPT		"sockopt-set"
#define PIN_GETSOCKOPT		"sockopt-get"
#define PINS_MAX		32
#define PIN_PATH_SIZE		(sizeof(PINS_DIR) + NAME_MAX + 1)

enum pin_kind {
	PIN_KIND_SCHED,
	PIN_KIND_SOCKOPT,
	PIN_KIND_UNKNOWN,	/* no link, or one of another type */
};

struct pin {
	enum pin_kind kind;
	char path[PIN_PATH_SIZE];
	uint32_t link_id;
	uint32_t map_id;	/* of a scheduler */
	uint32_t prog_id;	/* of a sockopt program */
	uint64_t cgroup_id;	/* where that is attached */
};

struct pins {
	int count;
	struct pin pin[PINS_MAX];	/* schedulers first; then oldest first */
};

/*
 * 0, also if there are none; -EACCES without the right to look; -ENOTDIR:
 * something else is pinned under the directory's name; or -errno.
 */
int pins_read(struct pins *pins);

/* Why pins_read() failed, in words. */
const char *pins_error_text(int err);

const struct pin *pins_find(const struct pins *pins, const char *name);
bool pins_has(const struct pins *pins, const char *name, enum pin_kind kind);
bool pins_have_sockopt(const struct pins *pins);

/* The pin's path for a name, and the other way round. */
void pins_path(char path[PIN_PATH_SIZE], const char *name);
static inline const char *pin_name(const struct pin *pin)
{
	return pin->path + sizeof(PINS_DIR);
}

/* Makes the directory, or removes it if it is empty. 0 or -errno. */
int pins_make_dir(void);
void pins_remove_dir(void);

#endif /* MPDPA_CMD_PINS_H */
