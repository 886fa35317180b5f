/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Generic netlink over libmnl: one family, one request at a time. Private. */
#ifndef MPDPA_LIB_GENL_H
#define MPDPA_LIB_GENL_H

#include <stdint.h>
#include <libmnl/libmnl.h>

#include "internal.h"

#define GENL_MESSAGE_MAX	128

struct genl {
	struct mnl_socket *nl;
	uint16_t family;
	uint32_t seq;
	char message[GENL_MESSAGE_MAX];	/* the kernel's words about the last error */
	uint32_t buffer[8192];		/* request and answers; aligned for netlink */
};

/* Called for each answer; a value other than 0 is the result, no more are handed out. */
typedef int (*genl_reply)(const struct nlmsghdr *nlh, void *data);

/* 0, -ENOENT if the kernel has no such family, or another negative errno. */
int genl_open(struct genl *genl, const char *family) INTERNAL(genl_open);
void genl_close(struct genl *genl) INTERNAL(genl_close);

/*
 * Has a family's multicast group come in; -ENOENT: there is no such family, or it
 * has none of that name.
 */
int genl_join(struct genl *genl, uint16_t family, const char *group) INTERNAL(genl_join);

/* Begins a request in genl->buffer; attributes are put by the caller. */
struct nlmsghdr *genl_request(struct genl *genl, uint8_t command, uint16_t flags)
	INTERNAL(genl_request);

/* Sends it and takes the answers up to the acknowledgement or the dump's end. */
int genl_talk(struct genl *genl, struct nlmsghdr *nlh, genl_reply reply, void *data)
	INTERNAL(genl_talk);

#endif /* MPDPA_LIB_GENL_H */
