// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
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

bool pathname_resolve(const struct path_words *words, struct mpdpa_path *path)
{
	char more;

	*path = (struct mpdpa_path){ .endpoint_id = words->endpoint, .cost = words->cost };
	if (words->addr) {
		path->family = strchr(words->addr, ':') ? AF_INET6 : AF_INET;
		return inet_pton(path->family, words->addr, path->addr) == 1;
	}
	if (!words->dev)
		return true;
	path->ifindex = if_nametoindex(words->dev);
	/* An interface that is gone is shown by its number and can still be named so. */
	return path->ifindex || sscanf(words->dev, "if%u%c", &path->ifindex, &more) == 1;
}
