// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What paths cost, by the module's netlink family. */
#include <errno.h>
#include <stdlib.h>
#include <linux/genetlink.h>
#include <linux/mptcp_dpa.h>

#include "genl.h"
#include "mpdpa.h"

#define ENDPOINT_ID_MAX	255

struct mpdpa_ctl {
	struct genl genl;
};

struct listing {
	int (*visit)(const struct mpdpa_path *path, void *data);
	void *data;
};

int mpdpa_ctl_open(struct mpdpa_ctl **ctl)
{
	struct mpdpa_ctl *new = malloc(sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = genl_open(&new->genl, MPTCP_DPA_FAMILY_NAME);
	if (err) {
		free(new);
		return err;
	}
	*ctl = new;
	return 0;
}

void mpdpa_ctl_close(struct mpdpa_ctl *ctl)
{
	if (!ctl)
		return;
	genl_close(&ctl->genl);
	free(ctl);
}

const char *mpdpa_ctl_message(const struct mpdpa_ctl *ctl)
{
	return ctl->genl.message;
}

static int check_name(const struct mpdpa_path *path)
{
	if (!path->endpoint_id == !path->ifindex || path->reserved)
		return -EINVAL;
	if (path->endpoint_id > ENDPOINT_ID_MAX || path->ifindex > INT32_MAX)
		return -ERANGE;
	return 0;
}

static struct nlmsghdr *request(struct mpdpa_ctl *ctl, uint8_t command,
				const struct mpdpa_path *path)
{
	struct nlmsghdr *nlh = genl_request(&ctl->genl, command, 0);

	if (path->endpoint_id)
		mnl_attr_put_u8(nlh, MPTCP_DPA_A_PATH_ENDPOINT_ID, path->endpoint_id);
	else
		mnl_attr_put_u32(nlh, MPTCP_DPA_A_PATH_IFINDEX, path->ifindex);
	return nlh;
}

/* Before a request is refused here, no words of an earlier one may remain. */
static int refuse(struct mpdpa_ctl *ctl, int err)
{
	ctl->genl.message[0] = '\0';
	return err;
}

int mpdpa_path_set(struct mpdpa_ctl *ctl, const struct mpdpa_path *path)
{
	struct nlmsghdr *nlh;
	int err = check_name(path);

	if (err)
		return refuse(ctl, err);
	if (path->cost < 1 || path->cost > MPTCP_DPA_COST_MAX)
		return refuse(ctl, -ERANGE);
	nlh = request(ctl, MPTCP_DPA_CMD_PATH_SET, path);
	mnl_attr_put_u32(nlh, MPTCP_DPA_A_PATH_COST, path->cost);
	return genl_talk(&ctl->genl, nlh, NULL, NULL);
}

int mpdpa_path_del(struct mpdpa_ctl *ctl, const struct mpdpa_path *path)
{
	int err = check_name(path);

	if (err)
		return refuse(ctl, err);
	return genl_talk(&ctl->genl, request(ctl, MPTCP_DPA_CMD_PATH_DEL, path), NULL, NULL);
}

/* Puts the attributes of one answer into a path. */
static void read_path(const struct nlmsghdr *nlh, struct mpdpa_path *path)
{
	const struct nlattr *attr;

	*path = (struct mpdpa_path){ 0 };
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_PATH_ENDPOINT_ID:
			if (mnl_attr_validate(attr, MNL_TYPE_U8) == 0)
				path->endpoint_id = mnl_attr_get_u8(attr);
			break;
		case MPTCP_DPA_A_PATH_IFINDEX:
			if (mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
				path->ifindex = mnl_attr_get_u32(attr);
			break;
		case MPTCP_DPA_A_PATH_COST:
			if (mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
				path->cost = mnl_attr_get_u32(attr);
			break;
		}
	}
}

static int on_get(const struct nlmsghdr *nlh, void *data)
{
	read_path(nlh, data);
	return 0;
}

int mpdpa_path_get(struct mpdpa_ctl *ctl, struct mpdpa_path *path)
{
	int err = check_name(path);

	if (err)
		return refuse(ctl, err);
	return genl_talk(&ctl->genl, request(ctl, MPTCP_DPA_CMD_PATH_GET, path), on_get, path);
}

static int on_list(const struct nlmsghdr *nlh, void *data)
{
	const struct listing *listing = data;
	struct mpdpa_path path;

	read_path(nlh, &path);
	return listing->visit(&path, listing->data);
}

int mpdpa_path_list(struct mpdpa_ctl *ctl,
		    int (*visit)(const struct mpdpa_path *path, void *data), void *data)
{
	struct listing listing = { .visit = visit, .data = data };
	struct nlmsghdr *nlh;

	nlh = genl_request(&ctl->genl, MPTCP_DPA_CMD_PATH_GET, NLM_F_DUMP);
	return genl_talk(&ctl->genl, nlh, on_list, &listing);
}
