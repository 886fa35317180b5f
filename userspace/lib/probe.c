// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Why deadlines do not work on a socket. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <linux/mptcp.h>
#include <linux/mptcp_dpa.h>

#include "genl.h"
#include "mpdpa.h"
#include "probe.h"
#include "socket.h"

/* Schedulers that take chunks have names that begin so. */
#define SCHEDULER	"mpdpa"
#define SYSCTL_DIR	"/proc/sys/net/mptcp/"

int probe_decide(const struct probe_facts *facts)
{
	if (!facts->mptcp)
		return MPDPA_PLAIN_TCP;
	if (facts->fallback || facts->mptcp_info_error)
		return MPDPA_FELL_BACK;
	if (!facts->info_error)
		return MPDPA_READY;
	if (!facts->module)
		return MPDPA_NO_MODULE;
	if (!facts->attached)
		return MPDPA_NOT_ATTACHED;
	if (!facts->selected)
		return MPDPA_NOT_SELECTED;
	return facts->fresh_ready ? MPDPA_OTHER_SCHEDULER : MPDPA_NO_SOCKOPT;
}

static void read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

void probe_schedulers(char *available, const char *current, struct probe_facts *facts)
{
	size_t length = strcspn(current, " \t\n");
	char *name;

	while ((name = strsep(&available, " \t\n"))) {
		if (strncmp(name, SCHEDULER, strlen(SCHEDULER)))
			continue;
		facts->attached = true;
		/* The setting may outlive the scheduler that it names. */
		if (strlen(name) == length && !strncmp(name, current, length))
			facts->selected = true;
	}
}

static void ask_schedulers(struct probe_facts *facts)
{
	char available[1024], current[64];

	read_file(SYSCTL_DIR "available_schedulers", available, sizeof(available));
	read_file(SYSCTL_DIR "scheduler", current, sizeof(current));
	probe_schedulers(available, current, facts);
}

/* The netlink family is there even where sysfs is not mounted. */
static bool module_loaded(void)
{
	struct mpdpa_ctl *ctl;

	if (!access("/sys/module/mptcp_dpa", F_OK))
		return true;
	if (mpdpa_ctl_open(&ctl))
		return false;
	mpdpa_ctl_close(ctl);
	return true;
}

static int ask_protocol(int fd, struct probe_facts *facts)
{
	int protocol;
	socklen_t length = sizeof(protocol);

	if (getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &length))
		return -errno;
	facts->mptcp = protocol == IPPROTO_MPTCP;
	return 0;
}

static void ask_socket(int fd, struct probe_facts *facts)
{
	struct mptcp_info mptcp = { 0 };
	socklen_t length = sizeof(mptcp);
	struct mptcp_dpa_info info;

	if (getsockopt(fd, SOL_MPTCP, MPTCP_INFO, &mptcp, &length))
		facts->mptcp_info_error = errno;
	facts->fallback = mptcp.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK;
	facts->info_error = -mpdpa_info_get(fd, &info, sizeof(info));
}

static int fresh_socket(void)
{
	int fd = mpdpa_socket(AF_INET);

	return fd == -EAFNOSUPPORT ? mpdpa_socket(AF_INET6) : fd;
}

/*
 * The kernel answers an option that it does not know as the programs answer on
 * a socket of another scheduler; a socket made now tells the two apart.
 */
static bool fresh_socket_ready(void)
{
	struct mptcp_dpa_info info;
	int fd = fresh_socket();
	bool ready;

	if (fd < 0)
		return false;
	ready = !mpdpa_info_get(fd, &info, sizeof(info));
	close(fd);
	return ready;
}

static int probe_socket(int fd)
{
	struct probe_facts facts = { 0 };
	int err = ask_protocol(fd, &facts);

	if (err)
		return err;
	if (facts.mptcp)
		ask_socket(fd, &facts);
	facts.module = module_loaded();
	ask_schedulers(&facts);
	if (facts.selected)
		facts.fresh_ready = fresh_socket_ready();
	return probe_decide(&facts);
}

int mpdpa_probe(int fd)
{
	int own, state;

	if (fd != -1)
		return probe_socket(fd);
	own = fresh_socket();
	if (own == -EPROTONOSUPPORT || own == -ENOPROTOOPT)
		return MPDPA_NO_MPTCP;
	if (own < 0)
		return own;
	state = probe_socket(own);
	close(own);
	return state;
}

static const struct {
	const char *text;
	const char *mend;
} states[] = {
	[MPDPA_READY] = { "ready", NULL },
	[MPDPA_NO_MPTCP] = {
		"no Multipath TCP in this network namespace",
		"sysctl -w net.mptcp.enabled=1",
	},
	[MPDPA_PLAIN_TCP] = { "not a Multipath TCP socket", NULL },
	[MPDPA_FELL_BACK] = { "the connection fell back to plain TCP", NULL },
	[MPDPA_NO_MODULE] = {
		"kernel module mptcp_dpa is not loaded",
		"modprobe mptcp_dpa",
	},
	[MPDPA_NOT_ATTACHED] = { "scheduler mpdpa is not attached", "mpdpa load" },
	[MPDPA_NOT_SELECTED] = {
		"another scheduler is selected in this network namespace",
		"sysctl -w net.mptcp.scheduler=mpdpa",
	},
	[MPDPA_NO_SOCKOPT] = {
		"the socket-option programs are not attached to this cgroup",
		"mpdpa load",
	},
	[MPDPA_OTHER_SCHEDULER] = {
		"the socket was made under another scheduler",
		NULL,
	},
};

static bool known_state(int state)
{
	return state >= 0 && state < (int)(sizeof(states) / sizeof(states[0]));
}

const char *mpdpa_state_text(int state)
{
	return known_state(state) ? states[state].text : "unknown";
}

const char *mpdpa_state_mend(int state)
{
	return known_state(state) ? states[state].mend : NULL;
}
