// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Generic netlink over libmnl. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <linux/genetlink.h>

#include "genl.h"

/* One request under way. */
struct talk {
	struct genl *genl;
	genl_reply reply;
	void *data;
	int result;
	bool interrupted;	/* a dump that changed while it was read */
};

static int on_message_attr(const struct nlattr *attr, void *arg)
{
	struct genl *genl = arg;

	if (mnl_attr_get_type(attr) != NLMSGERR_ATTR_MSG ||
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
		return MNL_CB_OK;
	strncpy(genl->message, mnl_attr_get_str(attr), sizeof(genl->message) - 1);
	return MNL_CB_STOP;
}

/* Keeps the kernel's message, which follows the error in the acknowledgement. */
static void keep_message(struct genl *genl, const struct nlmsghdr *nlh, size_t offset)
{
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(nlh, offset, on_message_attr, genl);
}

static int read_error(struct talk *talk, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	size_t offset = sizeof(*err);

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*err))
		return -EBADMSG;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		offset += err->msg.nlmsg_len - sizeof(err->msg);
	if (err->error)
		keep_message(talk->genl, nlh, offset);
	return err->error;
}

static int read_done(struct talk *talk, const struct nlmsghdr *nlh)
{
	int err;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(err))
		return 0;
	memcpy(&err, mnl_nlmsg_get_payload(nlh), sizeof(err));
	if (err < 0)
		keep_message(talk->genl, nlh, sizeof(err));
	return err;
}

/* Takes one message; true if it was the last of the request. */
static bool take(struct talk *talk, const struct nlmsghdr *nlh)
{
	int err;

	/* Left over from a request that a signal cut short. */
	if (nlh->nlmsg_seq != talk->genl->seq)
		return false;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		talk->interrupted = true;
	if (nlh->nlmsg_type >= NLMSG_MIN_TYPE) {
		if (talk->reply && !talk->result)
			talk->result = talk->reply(nlh, talk->data);
		return false;
	}
	if (nlh->nlmsg_type != NLMSG_ERROR && nlh->nlmsg_type != NLMSG_DONE)
		return false;
	err = nlh->nlmsg_type == NLMSG_ERROR ? read_error(talk, nlh) : read_done(talk, nlh);
	if (err < 0)
		talk->result = err;
	return true;
}

struct nlmsghdr *genl_request(struct genl *genl, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(genl->buffer);
	struct genlmsghdr *header;

	nlh->nlmsg_type = genl->family;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	nlh->nlmsg_seq = ++genl->seq;
	header = mnl_nlmsg_put_extra_header(nlh, sizeof(*header));
	header->cmd = command;
	header->version = 1;
	return nlh;
}

static int take_answers(struct talk *talk)
{
	struct genl *genl = talk->genl;
	bool last = false;

	while (!last) {
		int n = mnl_socket_recvfrom(genl->nl, genl->buffer, sizeof(genl->buffer));
		const struct nlmsghdr *nlh = (const struct nlmsghdr *)genl->buffer;

		if (n < 0)
			return -errno;
		for (; !last && mnl_nlmsg_ok(nlh, n); nlh = mnl_nlmsg_next(nlh, &n))
			last = take(talk, nlh);
	}
	if (!talk->result && talk->interrupted)
		return -EINTR;
	return talk->result;
}

int genl_talk(struct genl *genl, struct nlmsghdr *nlh, genl_reply reply, void *data)
{
	struct talk talk = { .genl = genl, .reply = reply, .data = data };

	genl->message[0] = '\0';
	if (mnl_socket_sendto(genl->nl, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	return take_answers(&talk);
}

static int on_family(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	uint16_t *family = data;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
		    mnl_attr_validate(attr, MNL_TYPE_U16) == 0)
			*family = mnl_attr_get_u16(attr);
	}
	return 0;
}

static int find_family(struct genl *genl, const char *name)
{
	struct nlmsghdr *nlh;
	uint16_t family = 0;
	int err;

	genl->family = GENL_ID_CTRL;
	nlh = genl_request(genl, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, name);
	err = genl_talk(genl, nlh, on_family, &family);
	if (err)
		return err;
	if (!family)
		return -ENOENT;
	genl->family = family;
	return 0;
}

/* A group that is looked for, and its number. */
struct group {
	const char *name;
	uint32_t id;
};

static void read_group(const struct nlattr *nest, struct group *group)
{
	const struct nlattr *attr;
	const char *name = NULL;
	uint32_t id = 0;

	mnl_attr_for_each_nested(attr, nest) {
		if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_NAME &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
			name = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GRP_ID &&
			 mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
			id = mnl_attr_get_u32(attr);
	}
	if (name && !strcmp(name, group->name))
		group->id = id;
}

static int on_groups(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr, *nest;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != CTRL_ATTR_MCAST_GROUPS)
			continue;
		mnl_attr_for_each_nested(nest, attr)
			read_group(nest, data);
	}
	return 0;
}

int genl_join(struct genl *genl, uint16_t family, const char *name)
{
	struct group group = { .name = name };
	uint16_t own = genl->family;
	struct nlmsghdr *nlh;
	int err;

	genl->family = GENL_ID_CTRL;
	nlh = genl_request(genl, CTRL_CMD_GETFAMILY, 0);
	genl->family = own;
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, family);
	err = genl_talk(genl, nlh, on_groups, &group);
	if (err)
		return err;
	if (!group.id)
		return -ENOENT;
	if (mnl_socket_setsockopt(genl->nl, NETLINK_ADD_MEMBERSHIP, &group.id, sizeof(group.id)))
		return -errno;
	return 0;
}

int genl_open(struct genl *genl, const char *family)
{
	int on = 1, err;

	memset(genl, 0, sizeof(*genl));
	genl->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!genl->nl)
		return -errno;
	/* Wanted for their words only: an old kernel without them will do. */
	mnl_socket_setsockopt(genl->nl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(genl->nl, NETLINK_CAP_ACK, &on, sizeof(on));
	if (mnl_socket_bind(genl->nl, 0, MNL_SOCKET_AUTOPID) < 0)
		err = -errno;
	else
		err = find_family(genl, family);
	if (err)
		genl_close(genl);
	return err;
}

void genl_close(struct genl *genl)
{
	if (genl->nl)
		mnl_socket_close(genl->nl);
	genl->nl = NULL;
}
