// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What paths cost in a network namespace. */
#include <errno.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "ctl.h"

static const struct path_attrs attrs = {
	.endpoint = MPTCP_DPA_A_PATH_ENDPOINT_ID,
	.ifindex = MPTCP_DPA_A_PATH_IFINDEX,
	.addr4 = MPTCP_DPA_A_PATH_ADDR4,
	.addr6 = MPTCP_DPA_A_PATH_ADDR6,
	.cost = MPTCP_DPA_A_PATH_COST,
};

struct listing {
	int (*visit)(const struct mpdpa_path *path, void *data);
	void *data;
};

static struct nlmsghdr *request(struct mpdpa_ctl *ctl, uint8_t command,
				const struct mpdpa_path *path)
{
	struct nlmsghdr *nlh = genl_request(&ctl->genl, command, 0);

	path_put_name(nlh, &attrs, path);
	return nlh;
}

int mpdpa_path_set(struct mpdpa_ctl *ctl, const struct mpdpa_path *path)
{
	struct nlmsghdr *nlh;
	int err = path_check_name(path);

	if (err)
		return ctl_refuse(ctl, err);
	if (path->cost < 1 || path->cost > MPTCP_DPA_COST_MAX)
		return ctl_refuse(ctl, -ERANGE);
	nlh = request(ctl, MPTCP_DPA_CMD_PATH_SET, path);
	mnl_attr_put_u32(nlh, MPTCP_DPA_A_PATH_COST, path->cost);
	return genl_talk(&ctl->genl, nlh, NULL, NULL);
}

int mpdpa_path_del(struct mpdpa_ctl *ctl, const struct mpdpa_path *path)
{
	int err = path_check_name(path);

	if (err)
		return ctl_refuse(ctl, err);
	return genl_talk(&ctl->genl, request(ctl, MPTCP_DPA_CMD_PATH_DEL, path), NULL, NULL);
}

static void read_path(const struct nlmsghdr *nlh, struct mpdpa_path *path)
{
	const struct nlattr *attr;

	*path = (struct mpdpa_path){ 0 };
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		path_take(path, &attrs, attr);
}

static int on_get(const struct nlmsghdr *nlh, void *data)
{
	read_path(nlh, data);
	return 0;
}

int mpdpa_path_get(struct mpdpa_ctl *ctl, struct mpdpa_path *path)
{
	int err = path_check_name(path);

	if (err)
		return ctl_refuse(ctl, err);
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
