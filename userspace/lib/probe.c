// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Why deadlines do not work on a socket.
 *
 * Without the socket-option programs the kernel answers a private option with
 * EOPNOTSUPP or ENOPROTOOPT, and so do the programs where they have nothing to
 * offer. What tells them apart is an option too short to be right: only the
 * programs look at its size and answer EINVAL.
 */
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
	if (facts->short_error != EINVAL)
		return MPDPA_NO_SOCKOPT;
	return facts->selected ? MPDPA_OTHER_SCHEDULER : MPDPA_NOT_SELECTED;
}

/* Whether a file of words separated by white space holds the word. */
static bool file_has_word(const char *path, const char *word)
{
	char text[1024], *rest = text, *token;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	while ((token = strsep(&rest, " \t\n"))) {
		if (!strcmp(token, word))
			return true;
	}
	return false;
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
	const char byte = 0;

	if (getsockopt(fd, SOL_MPTCP, MPTCP_INFO, &mptcp, &length))
		facts->mptcp_info_error = errno;
	facts->fallback = mptcp.mptcpi_flags & MPTCP_INFO_FLAG_FALLBACK;
	facts->info_error = -mpdpa_info_get(fd, &info, sizeof(info));
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_CHUNK, &byte, sizeof(byte)))
		facts->short_error = errno;
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
	facts.attached = file_has_word(SYSCTL_DIR "available_schedulers", SCHEDULER);
	facts.selected = file_has_word(SYSCTL_DIR "scheduler", SCHEDULER);
	return probe_decide(&facts);
}

int mpdpa_probe(int fd)
{
	int own, state;

	if (fd != -1)
		return probe_socket(fd);
	own = mpdpa_socket(AF_INET);
	if (own == -EAFNOSUPPORT)
		own = mpdpa_socket(AF_INET6);
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
	[MPDPA_NO_SOCKOPT] = {
		"the socket-option programs are not attached to this cgroup",
		"mpdpa load",
	},
	[MPDPA_NOT_SELECTED] = {
		"another scheduler is selected in this network namespace",
		"sysctl -w net.mptcp.scheduler=mpdpa",
	},
	[MPDPA_OTHER_SCHEDULER] = {
		"the socket was made before mpdpa was selected",
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
