// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/genetlink.h>
#include <linux/mptcp.h>

#include "genl.h"
#include "pm.h"

struct address {
	struct pm_endpoint endpoint;
	bool backup;
};

static void copy_addr(struct address *address, const struct nlattr *attr, size_t size)
{
	if (mnl_attr_get_payload_len(attr) == size)
		memcpy(address->endpoint.addr, mnl_attr_get_payload(attr), size);
}

static int on_address(const struct nlattr *attr, void *data)
{
	struct address *address = data;
	uint32_t flags;

	switch (mnl_attr_get_type(attr)) {
	case MPTCP_PM_ADDR_ATTR_ID:
		if (!mnl_attr_validate(attr, MNL_TYPE_U8))
			address->endpoint.id = mnl_attr_get_u8(attr);
		break;
	case MPTCP_PM_ADDR_ATTR_FAMILY:
		if (!mnl_attr_validate(attr, MNL_TYPE_U16))
			address->endpoint.family = mnl_attr_get_u16(attr);
		break;
	case MPTCP_PM_ADDR_ATTR_ADDR4:
		copy_addr(address, attr, 4);
		break;
	case MPTCP_PM_ADDR_ATTR_ADDR6:
		copy_addr(address, attr, 16);
		break;
	case MPTCP_PM_ADDR_ATTR_FLAGS:
		if (mnl_attr_validate(attr, MNL_TYPE_U32))
			break;
		flags = mnl_attr_get_u32(attr);
		address->backup = flags & MPTCP_PM_ADDR_FLAG_BACKUP;
		address->endpoint.subflow = flags & MPTCP_PM_ADDR_FLAG_SUBFLOW;
		break;
	}
	return MNL_CB_OK;
}

static int on_endpoint(const struct nlmsghdr *nlh, void *data)
{
	struct pm_settings *settings = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		struct address address = { 0 };

		if (mnl_attr_get_type(attr) != MPTCP_PM_ATTR_ADDR)
			continue;
		mnl_attr_parse_nested(attr, on_address, &address);
		if (settings->endpoints < PM_ENDPOINTS_MAX)
			settings->endpoint[settings->endpoints] = address.endpoint;
		settings->endpoints++;
		settings->backups += address.backup;
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
