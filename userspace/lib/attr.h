/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Netlink attributes: numbers that are 0 if malformed, and paths. Private. */
#ifndef MPDPA_LIB_ATTR_H
#define MPDPA_LIB_ATTR_H

#include <stdbool.h>
#include <libmnl/libmnl.h>

#include "internal.h"
#include "mpdpa.h"

/* The attributes that name a path, in one of the attribute sets that have them. */
struct path_attrs {
	uint16_t endpoint;
	uint16_t ifindex;
	uint16_t addr4;
	uint16_t addr6;
	uint16_t cost;
};

uint8_t attr_u8(const struct nlattr *attr) INTERNAL(attr_u8);
uint32_t attr_u32(const struct nlattr *attr) INTERNAL(attr_u32);
uint64_t attr_u64(const struct nlattr *attr) INTERNAL(attr_u64);

/* 0 if a path has exactly one name and that is in its range, else -errno. */
int path_check_name(const struct mpdpa_path *path) INTERNAL(path_check_name);

void path_put_name(struct nlmsghdr *nlh, const struct path_attrs *attrs,
		   const struct mpdpa_path *path) INTERNAL(path_put_name);

/* Takes one attribute into a path; others than those of "attrs" are left. */
void path_take(struct mpdpa_path *path, const struct path_attrs *attrs,
	       const struct nlattr *attr) INTERNAL(path_take);

/* Gives the caller, who knows "size" bytes of a structure, what is in ours. */
void copy_out(void *to, size_t size, const void *from, size_t known) INTERNAL(copy_out);

/* The other way round; false: fields set that we do not know. */
bool copy_in(void *to, size_t known, const void *from, size_t size) INTERNAL(copy_in);

#endif /* MPDPA_LIB_ATTR_H */
