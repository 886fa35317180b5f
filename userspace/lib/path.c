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

static int check_limits(const struct mpdpa_path *path, const struct mpdpa_limits *limits)
{
	int err = path_check_name(path);

	if (err)
		return err;
	if (path->cost < 1 || path->cost > MPTCP_DPA_COST_MAX)
		return -ERANGE;
	if ((limits->what & ~(MPDPA_LIMIT_QUOTA | MPDPA_LIMIT_CHEAP_RATE)) ||
	    (limits->flags & ~MPDPA_QUOTA_SOFT))
		return -EINVAL;
	return 0;
}

static void put_quota(struct nlmsghdr *nlh, const struct mpdpa_limits *limits)
{
	mnl_attr_put_u64(nlh, MPTCP_DPA_A_PATH_QUOTA_BYTES, limits->quota_bytes);
	if (!limits->quota_bytes)
		return;
	if (limits->quota_period_ns)
		mnl_attr_put_u64(nlh, MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS, limits->quota_period_ns);
	if (limits->flags & MPDPA_QUOTA_SOFT)
		mnl_attr_put(nlh, MPTCP_DPA_A_PATH_QUOTA_SOFT, 0, NULL);
}

int mpdpa_path_limit(struct mpdpa_ctl *ctl, const struct mpdpa_path *path,
		     const struct mpdpa_limits *limits, size_t size)
{
	struct mpdpa_limits all;
	struct nlmsghdr *nlh;
	int err;

	if (!copy_in(&all, sizeof(all), limits, size))
		return ctl_refuse(ctl, -E2BIG);
	err = check_limits(path, &all);
	if (err)
		return ctl_refuse(ctl, err);
	nlh = request(ctl, MPTCP_DPA_CMD_PATH_SET, path);
	mnl_attr_put_u32(nlh, MPTCP_DPA_A_PATH_COST, path->cost);
	if (all.what & MPDPA_LIMIT_QUOTA)
		put_quota(nlh, &all);
	if (all.what & MPDPA_LIMIT_CHEAP_RATE)
		mnl_attr_put_u64(nlh, MPTCP_DPA_A_PATH_CHEAP_RATE, all.cheap_rate);
	return genl_talk(&ctl->genl, nlh, NULL, NULL);
}

int mpdpa_path_set(struct mpdpa_ctl *ctl, const struct mpdpa_path *path)
{
	const struct mpdpa_limits none = { 0 };

	return mpdpa_path_limit(ctl, path, &none, sizeof(none));
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

struct limited {
	struct mpdpa_path *path;
	struct mpdpa_limits limits;
};

static void take_limit(struct mpdpa_limits *limits, const struct nlattr *attr)
{
	switch (mnl_attr_get_type(attr)) {
	case MPTCP_DPA_A_PATH_QUOTA_BYTES:
		limits->quota_bytes = attr_u64(attr);
		limits->what |= MPDPA_LIMIT_QUOTA;
		break;
	case MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS:
		limits->quota_period_ns = attr_u64(attr);
		break;
	case MPTCP_DPA_A_PATH_QUOTA_SPENT:
		limits->quota_spent = attr_u64(attr);
		break;
	case MPTCP_DPA_A_PATH_QUOTA_SOFT:
		limits->flags |= MPDPA_QUOTA_SOFT;
		break;
	case MPTCP_DPA_A_PATH_CHEAP_RATE:
		limits->cheap_rate = attr_u64(attr);
		limits->what |= MPDPA_LIMIT_CHEAP_RATE;
		break;
	}
}

static int on_limits(const struct nlmsghdr *nlh, void *data)
{
	struct limited *limited = data;
	const struct nlattr *attr;

	read_path(nlh, limited->path);
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		take_limit(&limited->limits, attr);
	return 0;
}

int mpdpa_path_limits(struct mpdpa_ctl *ctl, struct mpdpa_path *path,
		      struct mpdpa_limits *limits, size_t size)
{
	struct limited limited = { .path = path };
	struct nlmsghdr *nlh;
	int err = path_check_name(path);

	if (err)
		return ctl_refuse(ctl, err);
	nlh = request(ctl, MPTCP_DPA_CMD_PATH_GET, path);
	err = genl_talk(&ctl->genl, nlh, on_limits, &limited);
	if (!err)
		copy_out(limits, size, &limited.limits, sizeof(limited.limits));
	return err;
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
