/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz: structured random calls, see fuzz.c. */
#ifndef DPA_FUZZ_H
#define DPA_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#include "mptcp.h"

/* one thread's source of chance; its own, so that a seed says what it does */
struct chance {
	uint64_t state;
};

uint64_t draw(struct chance *c);
uint32_t below(struct chance *c, uint32_t n);
bool one_in(struct chance *c, uint32_t n);
uint64_t odd_number(struct chance *c);

/* what was called, and how often it succeeded */
enum kind {
	KIND_SOCKET, KIND_CONNECT, KIND_SEND, KIND_RECV, KIND_SHUTDOWN,
	KIND_CLOSE, KIND_DISCONNECT, KIND_NETNS, KIND_SYSCTL,
	KIND_SET, KIND_GET = KIND_SET + 8,
	KIND_NETLINK = KIND_GET + 8, KIND_DUMP = KIND_NETLINK + 16,
	/* from here on: what such a call was about, counted besides it */
	KIND_SETTING = KIND_DUMP + 16,		/* a sysctl by its number */
	KIND_PREF = KIND_SETTING + 8,		/* MPTCP_DPA_PREF_* */
	KIND_PART = KIND_PREF + 5,		/* enum part */
	KINDS = KIND_PART + 8,
};

/* what a request of netlink has in it */
enum part {
	PART_CHUNK, PART_GET_BY_TOKEN, PART_SET_BY_TOKEN,
	PART_PREF_ADDR4, PART_PREF_ADDR6, PART_PATH_ADDR4, PART_PATH_ADDR6,
};

void count(enum kind kind, bool good);
void count_more(enum kind kind, bool good);

void fuzz_setsockopt(struct chance *c, int fd);
void fuzz_getsockopt(struct chance *c, int fd);
void fuzz_netlink(struct chance *c, int nl, uint16_t family);
int netlink_open(uint16_t *family);

#endif
