// SPDX-License-Identifier: GPL-2.0
/* Whether each endpoint's packets leave by the interface that has its address. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>

#include "findings.h"
#include "pm.h"
#include "route.h"

/* Routes of an interface's addresses go to the table of this number and more. */
#define TABLE_FIRST	1000

struct source {
	char name[64];		/* of the check */
	char addr[INET6_ADDRSTRLEN];
	char dev[IF_NAMESIZE];
	int index;
};

static void not_here(struct findings *findings, const struct pm_endpoint *endpoint,
		     const struct source *source)
{
	char mend[80];

	snprintf(mend, sizeof(mend), "ip mptcp endpoint delete id %u", endpoint->id);
	finding(findings, VERDICT_FAIL, source->name, mend,
		"endpoint %u: no interface has its address %s", endpoint->id, source->addr);
}

static void astray(struct findings *findings, const struct pm_endpoint *endpoint,
		   const struct source *source, int by)
{
	const char *six = endpoint->family == AF_INET6 ? "-6 " : "";
	char mend[256], other[IF_NAMESIZE] = "?";

	snprintf(mend, sizeof(mend),
		 "ip %sroute add default via GATEWAY dev %s table %d && ip %srule add from %s table %d",
		 six, source->dev, TABLE_FIRST + source->index, six, source->addr,
		 TABLE_FIRST + source->index);
	if (by == -ENETUNREACH) {
		finding(findings, VERDICT_NOTE, source->name, mend,
			"endpoint %u: from %s on %s only the own network is reached", endpoint->id,
			source->addr, source->dev);
		return;
	}
	if_indextoname(by, other);
	finding(findings, VERDICT_FAIL, source->name, mend,
		"endpoint %u: packets from %s, an address of %s, leave by %s", endpoint->id,
		source->addr, source->dev, other);
}

static void check_route(struct findings *findings, const struct pm_endpoint *endpoint)
{
	struct source source = { .index = route_interface_of(endpoint) };
	int by;

	inet_ntop(endpoint->family, endpoint->addr, source.addr, sizeof(source.addr));
	snprintf(source.name, sizeof(source.name), "route-%s", source.addr);
	if (source.index == -EADDRNOTAVAIL) {
		not_here(findings, endpoint, &source);
		return;
	}
	by = source.index < 0 ? source.index : route_leaves_by(endpoint);
	if (by < 0 && by != -ENETUNREACH) {
		finding(findings, VERDICT_NOTE, source.name, NULL,
			"endpoint %u: cannot look up the route from %s: %s", endpoint->id,
			source.addr, strerror(-by));
		return;
	}
	if_indextoname(source.index, source.dev);
	if (by == source.index)
		finding(findings, VERDICT_OK, source.name, NULL,
			"endpoint %u: packets from %s leave by %s", endpoint->id, source.addr,
			source.dev);
	else
		astray(findings, endpoint, &source, by);
}

void check_routes(struct findings *findings, const struct pm_settings *settings)
{
	unsigned int i;

	for (i = 0; i < settings->endpoints && i < PM_ENDPOINTS_MAX; i++)
		if (settings->endpoint[i].subflow)
			check_route(findings, &settings->endpoint[i]);
}
