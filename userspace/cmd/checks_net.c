// SPDX-License-Identifier: GPL-2.0
/* What the doctor looks at in a network namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "findings.h"
#include "mpdpa.h"
#include "pathname.h"
#include "pins.h"
#include "pm.h"
#include "system.h"

static void check_selected(struct findings *findings)
{
	const char *mend = "sysctl -w net.mptcp.scheduler=" SCHED_NAME;
	char current[64], available[1024];

	if (system_sysctl(SYSCTL_SCHEDULER, current, sizeof(current)) ||
	    system_sysctl(SYSCTL_AVAILABLE, available, sizeof(available)))
		return;
	if (!system_has_word(available, current))
		finding(findings, VERDICT_FAIL, "selected",
			strcmp(current, SCHED_NAME) ? mend : "mpdpa load",
			"net.mptcp.scheduler names \"%s\", which is not attached: new sockets get the default",
			current);
	else if (strncmp(current, SCHED_NAME, strlen(SCHED_NAME)))
		finding(findings, VERDICT_FAIL, "selected", mend,
			"net.mptcp.scheduler selects \"%s\", which knows no deadlines", current);
	else
		finding(findings, VERDICT_OK, "selected", NULL,
			"net.mptcp.scheduler selects \"%s\"", current);
}

static void check_path_manager(struct findings *findings)
{
	char value[64];

	if (system_sysctl(SYSCTL_PATH_MANAGER, value, sizeof(value))) {
		/* Older kernels have a number: 0 is the kernel's own. */
		if (system_sysctl(SYSCTL_PM_TYPE, value, sizeof(value)))
			return;
		strcpy(value, strcmp(value, "0") ? "userspace" : "kernel");
	}
	if (strcmp(value, "kernel"))
		finding(findings, VERDICT_NOTE, "path-manager", NULL,
			"the path manager is \"%s\": endpoints and limits below are not used",
			value);
}

/* Were the options loaded for another cgroup? */
static bool is_served_elsewhere(void)
{
	static struct pins pins;

	return !pins_read(&pins) && pins_have_sockopt(&pins);
}

/* The end of the matter: what a socket made now says. */
static void check_probe(struct findings *findings)
{
	int state = mpdpa_probe(-1);

	if (state < 0)
		finding(findings, VERDICT_FAIL, "deadlines", NULL,
			"cannot try a Multipath TCP socket: %s", strerror(-state));
	else if (state == MPDPA_READY)
		finding(findings, VERDICT_OK, "deadlines", NULL,
			"a socket made here and now can have deadlines");
	else if (state == MPDPA_NO_SOCKOPT && is_served_elsewhere())
		finding(findings, VERDICT_NOTE, "deadlines", NULL,
			"sockets can have deadlines in the cgroup of \"mpdpa load --cgroup\", not here");
	else
		finding(findings, VERDICT_FAIL, "deadlines",
			state == MPDPA_NO_MODULE ? module_mend() : mpdpa_state_mend(state),
			"a socket made here and now cannot have deadlines: %s",
			mpdpa_state_text(state));
}

void check_namespace(struct findings *findings)
{
	check_selected(findings);
	check_probe(findings);
	check_path_manager(findings);
}

static void check_limits(struct findings *findings, const struct pm_settings *settings)
{
	if (!settings->subflow_limit)
		finding(findings, VERDICT_NOTE, "limits", "ip mptcp limits set subflows 2",
			"no subflow beside the first is allowed: one path per connection");
	else
		finding(findings, VERDICT_OK, "limits", NULL,
			"limits: %u subflows beside the first, %u addresses taken from a peer",
			settings->subflow_limit, settings->accept_limit);
}

static void check_endpoints(struct findings *findings, const struct pm_settings *settings)
{
	if (!settings->endpoints)
		finding(findings, VERDICT_NOTE, "endpoints",
			"ip mptcp endpoint add ADDRESS dev IFACE subflow",
			"no MPTCP endpoint: connections made here have one path unless the peer offers more");
	else
		finding(findings, VERDICT_OK, "endpoints", NULL,
			"MPTCP endpoints: %u, %u of them flagged backup", settings->endpoints,
			settings->backups);
}

struct costs {
	unsigned int set;
	uint32_t gone;	/* an interface that is no more and has one; 0: none */
};

static int count(const struct mpdpa_path *path, void *data)
{
	struct costs *costs = data;
	char name[IF_NAMESIZE];

	costs->set++;
	if (path->ifindex && !if_indextoname(path->ifindex, name))
		costs->gone = path->ifindex;
	return 0;
}

static void check_costs(struct findings *findings, const struct pm_settings *settings)
{
	struct costs costs = {};
	struct mpdpa_ctl *ctl;
	char mend[64];
	int err;

	/* That the module is not there was said before. */
	if (mpdpa_ctl_open(&ctl))
		return;
	err = mpdpa_path_list(ctl, count, &costs);
	mpdpa_ctl_close(ctl);
	snprintf(mend, sizeof(mend), "mpdpa path del dev if%u", costs.gone);
	if (err)
		finding(findings, VERDICT_NOTE, "costs", NULL, "cannot read path costs: %s",
			strerror(-err));
	else if (costs.gone)
		finding(findings, VERDICT_NOTE, "costs", mend,
			"interface %u has a cost and is no more: made anew it has none", costs.gone);
	else if (!costs.set && !settings->backups)
		finding(findings, VERDICT_NOTE, "costs", "mpdpa path set dev IFACE cost 10",
			"all paths cost the same: none will be spared");
	else
		finding(findings, VERDICT_OK, "costs", NULL, "path costs set: %u", costs.set);
}

void check_paths(struct findings *findings)
{
	struct pm_settings settings;
	int err = pm_read(&settings);

	if (err == -ENOENT)
		return;
	if (err) {
		finding(findings, VERDICT_NOTE, "endpoints", NULL,
			"cannot read MPTCP endpoints and limits: %s", strerror(-err));
	} else {
		check_limits(findings, &settings);
		check_endpoints(findings, &settings);
		check_routes(findings, &settings);
	}
	check_costs(findings, &settings);
}

/* What became of the connections that asked for Multipath TCP. */
void check_fallback(struct findings *findings)
{
	unsigned long long made, alone;

	if (system_mptcp_counter("MPCapableSYNTX", &made) ||
	    system_mptcp_counter("MPCapableFallbackSYNACK", &alone))
		return;
	if (alone)
		finding(findings, VERDICT_NOTE, "fallback", "mptcpize run SERVER",
			"of %llu connections made here %llu fell back to TCP: at the peer, have the server use Multipath TCP",
			made, alone);
	else
		finding(findings, VERDICT_OK, "fallback", NULL,
			"of %llu connections made here none fell back to TCP at once", made);
}
