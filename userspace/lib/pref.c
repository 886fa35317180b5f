// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* What paths cost for one connection. */
#include <errno.h>
#include <string.h>

#include "attr.h"
#include "mpdpa.h"
#include "socket.h"

/* The module's view of a path, named as path_check_name() allows. */
static void to_option(const struct mpdpa_path *path, struct mptcp_dpa_pref *option)
{
	*option = (struct mptcp_dpa_pref){ .cost = path->cost };
	memcpy(option->addr, path->addr, sizeof(option->addr));
	if (path->endpoint_id) {
		option->kind = MPTCP_DPA_PREF_ENDPOINT;
		option->id = path->endpoint_id;
	} else if (path->ifindex) {
		option->kind = MPTCP_DPA_PREF_IFINDEX;
		option->id = path->ifindex;
	} else {
		option->kind = path->family == AF_INET ? MPTCP_DPA_PREF_ADDR4 :
							 MPTCP_DPA_PREF_ADDR6;
	}
}

static void from_option(const struct mptcp_dpa_pref *option, struct mpdpa_path *path)
{
	*path = (struct mpdpa_path){ .cost = option->cost };
	memcpy(path->addr, option->addr, sizeof(path->addr));
	switch (option->kind) {
	case MPTCP_DPA_PREF_ENDPOINT:
		path->endpoint_id = option->id;
		break;
	case MPTCP_DPA_PREF_IFINDEX:
		path->ifindex = option->id;
		break;
	case MPTCP_DPA_PREF_ADDR4:
		path->family = AF_INET;
		break;
	case MPTCP_DPA_PREF_ADDR6:
		path->family = AF_INET6;
		break;
	}
}

int mpdpa_pref_set(int fd, const struct mpdpa_path *path)
{
	struct mptcp_dpa_pref option;
	int err = path_check_name(path);

	if (err)
		return err;
	if (path->cost > MPTCP_DPA_COST_MAX && path->cost != MPTCP_DPA_COST_FORBIDDEN)
		return -ERANGE;
	to_option(path, &option);
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_PREF, &option, sizeof(option)))
		return -errno;
	return 0;
}

int mpdpa_pref_get(int fd, struct mpdpa_path *prefs, size_t count)
{
	struct mptcp_dpa_pref options[MPTCP_DPA_PREFS_MAX];
	socklen_t length = sizeof(options);
	size_t i;

	if (!count)
		return -EINVAL;
	if (count < MPTCP_DPA_PREFS_MAX)
		length = count * sizeof(options[0]);
	if (getsockopt(fd, SOL_MPTCP, MPTCP_DPA_PREF, options, &length))
		return -errno;
	/* Without any, the kernel hands out one of kind 0. */
	for (i = 0; i < length / sizeof(options[0]) && options[i].kind; i++)
		from_option(&options[i], &prefs[i]);
	return i;
}
