// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathname.h"

const char *pathname_interface(uint32_t ifindex, char name[IF_NAMESIZE])
{
	if (!if_indextoname(ifindex, name))
		snprintf(name, IF_NAMESIZE, "if%u", ifindex);
	return name;
}

static const char *address(const struct mpdpa_path *path, char text[INET6_ADDRSTRLEN])
{
	if (!inet_ntop(path->family, path->addr, text, INET6_ADDRSTRLEN))
		strcpy(text, "?");
	return text;
}

const char *pathname_text(const struct mpdpa_path *path, char text[PATHNAME_SIZE])
{
	char part[INET6_ADDRSTRLEN];

	if (path->endpoint_id)
		snprintf(text, PATHNAME_SIZE, "endpoint %u", path->endpoint_id);
	else if (path->ifindex)
		snprintf(text, PATHNAME_SIZE, "dev %s", pathname_interface(path->ifindex, part));
	else
		snprintf(text, PATHNAME_SIZE, "addr %s", address(path, part));
	return text;
}

void pathname_json(struct json *json, const struct mpdpa_path *path)
{
	char part[INET6_ADDRSTRLEN];

	if (path->endpoint_id) {
		json_number(json, "endpoint", path->endpoint_id);
	} else if (path->ifindex) {
		json_string(json, "dev", pathname_interface(path->ifindex, part));
		json_number(json, "ifindex", path->ifindex);
	} else {
		json_string(json, "addr", address(path, part));
	}
	if (path->cost == MPTCP_DPA_COST_FORBIDDEN)
		json_string(json, "cost", "forbidden");
	else
		json_number(json, "cost", path->cost);
}

/* An interface that is gone is shown by its number and can still be named so. */
static uint32_t gone_interface(const char *name)
{
	unsigned long index;
	char *end, live[IF_NAMESIZE];

	/* strtoul() would take a sign and leading blanks. */
	if (strncmp(name, "if", 2) || !isdigit((unsigned char)name[2]))
		return 0;
	index = strtoul(name + 2, &end, 10);
	if (*end || index > INT32_MAX || if_indextoname(index, live))
		return 0;
	return index;
}

bool pathname_resolve(const struct path_words *words, struct mpdpa_path *path)
{
	*path = (struct mpdpa_path){ .endpoint_id = words->endpoint, .cost = words->cost };
	if (words->addr) {
		path->family = strchr(words->addr, ':') ? AF_INET6 : AF_INET;
		return inet_pton(path->family, words->addr, path->addr) == 1;
	}
	if (!words->dev)
		return true;
	path->ifindex = if_nametoindex(words->dev) ?: gone_interface(words->dev);
	return path->ifindex;
}
