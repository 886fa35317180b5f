// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <linux/genetlink.h>
#include <linux/mptcp.h>

#include "genl.h"
#include "pm.h"

static int on_address(const struct nlattr *attr, void *data)
{
	struct pm_settings *settings = data;

	if (mnl_attr_get_type(attr) == MPTCP_PM_ADDR_ATTR_FLAGS &&
	    mnl_attr_validate(attr, MNL_TYPE_U32) == 0 &&
	    (mnl_attr_get_u32(attr) & MPTCP_PM_ADDR_FLAG_BACKUP))
		settings->backups++;
	return MNL_CB_OK;
}

static int on_endpoint(const struct nlmsghdr *nlh, void *data)
{
	struct pm_settings *settings = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != MPTCP_PM_ATTR_ADDR)
			continue;
		settings->endpoints++;
		mnl_attr_parse_nested(attr, on_address, settings);
	}
	return 0;
}

static int on_limits(const struct nlmsghdr *nlh, void *data)
{
	struct pm_settings *settings = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
			continue;
		if (mnl_attr_get_type(attr) == MPTCP_PM_ATTR_SUBFLOWS)
			settings->subflow_limit = mnl_attr_get_u32(attr);
		else if (mnl_attr_get_type(attr) == MPTCP_PM_ATTR_RCV_ADD_ADDRS)
			settings->accept_limit = mnl_attr_get_u32(attr);
	}
	return 0;
}

static int ask(struct genl *genl, struct pm_settings *settings)
{
	struct nlmsghdr *nlh;
	int err, tries = 5;

	do {
		settings->endpoints = 0;
		settings->backups = 0;
		nlh = genl_request(genl, MPTCP_PM_CMD_GET_ADDR, NLM_F_DUMP);
		err = genl_talk(genl, nlh, on_endpoint, settings);
	} while (err == -EINTR && --tries);
	if (err)
		return err;
	nlh = genl_request(genl, MPTCP_PM_CMD_GET_LIMITS, 0);
	return genl_talk(genl, nlh, on_limits, settings);
}

int pm_read(struct pm_settings *settings)
{
	struct genl *genl = malloc(sizeof(*genl));
	int err;

	if (!genl)
		return -ENOMEM;
	*settings = (struct pm_settings){ 0 };
	err = genl_open(genl, MPTCP_PM_NAME);
	if (!err) {
		err = ask(genl, settings);
		genl_close(genl);
	}
	free(genl);
	return err;
}
