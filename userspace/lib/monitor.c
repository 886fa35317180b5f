// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Events of a network namespace, by the module's multicast group. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "ctl.h"

/* Room in the socket for bursts of events: a chunk's takes about 800 bytes. */
#define RECEIVE_BUFFER	(1 << 20)

/* The group in which the kernel tells of families that come and go. */
#define FAMILIES_GROUP	"notify"

struct mpdpa_monitor {
	struct genl genl;
	const struct nlmsghdr *next;	/* in the buffer of genl */
	int left;			/* bytes there */
	bool gone;			/* the family: nothing will come any more */
};

static const char *const names[] = {
	[MPDPA_EVENT_CHUNK_MET] = "chunk-met",
	[MPDPA_EVENT_CHUNK_MISSED] = "chunk-missed",
	[MPDPA_EVENT_CHUNK_AT_RISK] = "chunk-at-risk",
	[MPDPA_EVENT_PATH_ACTIVATED] = "path-activated",
	[MPDPA_EVENT_PATH_RELEASED] = "path-released",
	[MPDPA_EVENT_QUOTA_REACHED] = "quota-reached",
};

const char *mpdpa_event_name(uint32_t type)
{
	if (type < sizeof(names) / sizeof(names[0]) && names[type])
		return names[type];
	return "unknown";
}

/*
 * Joins the families' group first: if ours goes before it would be heard, its own
 * group is not found.
 */
static int join(struct genl *genl)
{
	int err = genl_join(genl, GENL_ID_CTRL, FAMILIES_GROUP);

	return err ?: genl_join(genl, genl->family, MPTCP_DPA_MCGRP_EVENTS);
}

static int listen_to(struct genl *genl)
{
	const int size = RECEIVE_BUFFER;
	int err = join(genl);
	int flags = fcntl(mnl_socket_get_fd(genl->nl), F_GETFL);

	if (err)
		return err;
	/* Above the system's limit only with CAP_NET_ADMIN outside; else less will do. */
	if (setsockopt(mnl_socket_get_fd(genl->nl), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		setsockopt(mnl_socket_get_fd(genl->nl), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (fcntl(mnl_socket_get_fd(genl->nl), F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

int mpdpa_monitor_open(struct mpdpa_monitor **monitor)
{
	struct mpdpa_monitor *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = genl_open(&new->genl, MPTCP_DPA_FAMILY_NAME);
	if (!err) {
		err = listen_to(&new->genl);
		if (err)
			genl_close(&new->genl);
	}
	if (err) {
		free(new);
		return err;
	}
	*monitor = new;
	return 0;
}

void mpdpa_monitor_close(struct mpdpa_monitor *monitor)
{
	if (!monitor)
		return;
	genl_close(&monitor->genl);
	free(monitor);
}

int mpdpa_monitor_fd(const struct mpdpa_monitor *monitor)
{
	return mnl_socket_get_fd(monitor->genl.nl);
}

static void read_chunk(const struct nlattr *nest, struct mpdpa_event *event)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_CHUNK_LENGTH:
			event->chunk_length = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_DEADLINE_NS:
			event->chunk_deadline_ns = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_COOKIE:
			event->chunk_cookie = attr_u64(attr);
			break;
		}
	}
}

static void read_event(const struct nlmsghdr *nlh, struct mpdpa_event *event)
{
	const struct genlmsghdr *header = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	*event = (struct mpdpa_event){ .type = header->cmd };
	mnl_attr_for_each(attr, nlh, sizeof(*header)) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_CONN_ID:
			event->id = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_TOKEN:
			event->token = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_COOKIE:
			event->cookie = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_CHUNK:
			read_chunk(attr, event);
			break;
		case MPTCP_DPA_A_CONN_EVENT_SUBFLOW:
			event->subflow = attr_u32(attr);
			break;
		}
	}
}

/* Is it the word that our family is gone? One of its name is another one. */
static bool tells_end(const struct mpdpa_monitor *monitor, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *header = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;

	if (nlh->nlmsg_type != GENL_ID_CTRL || header->cmd != CTRL_CMD_DELFAMILY)
		return false;
	mnl_attr_for_each(attr, nlh, sizeof(*header)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_validate(attr, MNL_TYPE_U16) == 0)
			return mnl_attr_get_u16(attr) == monitor->genl.family;
	}
	return false;
}

/* The next message of the family; NULL when the buffer is used up. */
static const struct nlmsghdr *next_message(struct mpdpa_monitor *monitor)
{
	while (monitor->left > 0 && mnl_nlmsg_ok(monitor->next, monitor->left)) {
		const struct nlmsghdr *nlh = monitor->next;

		monitor->next = mnl_nlmsg_next(nlh, &monitor->left);
		if (mnl_nlmsg_get_payload_len(nlh) < sizeof(struct genlmsghdr))
			continue;
		if (nlh->nlmsg_type == monitor->genl.family)
			return nlh;
		if (tells_end(monitor, nlh))
			monitor->gone = true;
	}
	monitor->left = 0;
	return NULL;
}

/* For when that word may be among what was lost. */
static bool family_is_gone(const struct mpdpa_monitor *monitor)
{
	struct genl *other = malloc(sizeof(*other));
	bool gone = false;
	int err;

	if (!other)
		return false;
	err = genl_open(other, MPTCP_DPA_FAMILY_NAME);
	if (!err) {
		gone = other->family != monitor->genl.family;
		genl_close(other);
	}
	free(other);
	return gone || err == -ENOENT;
}

static int receive(struct mpdpa_monitor *monitor)
{
	struct genl *genl = &monitor->genl;
	int n = mnl_socket_recvfrom(genl->nl, genl->buffer, sizeof(genl->buffer));
	int err = n < 0 ? errno : 0;

	if (err == ENOBUFS)
		monitor->gone = family_is_gone(monitor);
	/* what came before it went is told first */
	if (err == EAGAIN && monitor->gone)
		return -ENODEV;
	if (err)
		return -err;
	monitor->next = (const struct nlmsghdr *)genl->buffer;
	monitor->left = n;
	return 0;
}

int mpdpa_monitor_read(struct mpdpa_monitor *monitor, struct mpdpa_event *event, size_t size)
{
	const struct nlmsghdr *nlh;
	struct mpdpa_event all;
	int err;

	while (!(nlh = next_message(monitor))) {
		err = receive(monitor);
		if (err)
			return err;
	}
	read_event(nlh, &all);
	copy_out(event, size, &all, sizeof(all));
	return 0;
}
