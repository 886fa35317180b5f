// SPDX-License-Identifier: GPL-2.0
/* What follows from what the probe sees. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#include "mpdpa.h"
#include "probe.h"
#include "tap.h"

static const struct {
	const char *what;
	struct probe_facts facts;
	int state;
} cases[] = {
	{ "plain TCP", { .module = true, .attached = true, .selected = true },
	  MPDPA_PLAIN_TCP },
	{ "fell back, the kernel says nothing more",
	  { .mptcp = true, .mptcp_info_error = EOPNOTSUPP, .info_error = EOPNOTSUPP,
	    .module = true, .attached = true, .selected = true, .fresh_ready = true },
	  MPDPA_FELL_BACK },
	{ "fell back, the info still works", { .mptcp = true, .fallback = true },
	  MPDPA_FELL_BACK },
	{ "ready", { .mptcp = true, .module = true, .attached = true, .selected = true },
	  MPDPA_READY },
	{ "ready though another is selected by now",
	  { .mptcp = true, .module = true, .attached = true }, MPDPA_READY },
	{ "no module", { .mptcp = true, .info_error = EOPNOTSUPP }, MPDPA_NO_MODULE },
	{ "module, no scheduler", { .mptcp = true, .info_error = EOPNOTSUPP, .module = true },
	  MPDPA_NOT_ATTACHED },
	{ "not selected",
	  { .mptcp = true, .info_error = EOPNOTSUPP, .module = true, .attached = true },
	  MPDPA_NOT_SELECTED },
	{ "programs not attached",
	  { .mptcp = true, .info_error = EOPNOTSUPP, .module = true, .attached = true,
	    .selected = true }, MPDPA_NO_SOCKOPT },
	{ "made under another scheduler",
	  { .mptcp = true, .info_error = EOPNOTSUPP, .module = true, .attached = true,
	    .selected = true, .fresh_ready = true }, MPDPA_OTHER_SCHEDULER },
};

static void test_decisions(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int state = probe_decide(&cases[i].facts);

		ok(state == cases[i].state, "%s: %s", cases[i].what, mpdpa_state_text(state));
	}
}

static const struct {
	const char *available, *current;
	bool attached, selected;
} sysctls[] = {
	{ "", "", false, false },
	{ "default\n", "default\n", false, false },
	{ "default mpdpa\n", "default\n", true, false },
	{ "default mpdpa\n", "mpdpa\n", true, true },
	{ "mpdpa default", "mpdpa", true, true },
	{ "default mpdpa_fast rr\n", "mpdpa_fast\n", true, true },
	{ "default mpdpa_fast rr\n", "mpdpa\n", true, false },	/* names one that is gone */
	{ "default rr\n", "mpdpa\n", false, false },
	{ "default xmpdpa\n", "xmpdpa\n", false, false },
};

static void test_sysctls(void)
{
	size_t i;

	for (i = 0; i < sizeof(sysctls) / sizeof(sysctls[0]); i++) {
		struct probe_facts facts = { 0 };
		char available[64];

		strcpy(available, sysctls[i].available);
		probe_schedulers(available, sysctls[i].current, &facts);
		ok(facts.attached == sysctls[i].attached &&
		   facts.selected == sysctls[i].selected, "sysctls, case %zu", i);
	}
}

static void test_texts(void)
{
	int state;

	for (state = MPDPA_READY; state <= MPDPA_OTHER_SCHEDULER; state++)
		ok(strcmp(mpdpa_state_text(state), "unknown"), "state %d has a text", state);
	ok(!strcmp(mpdpa_state_text(state), "unknown") &&
	   !strcmp(mpdpa_state_text(-1), "unknown"), "others have none");
	ok(!mpdpa_state_mend(MPDPA_READY) && !mpdpa_state_mend(state), "nothing to mend");
	ok(mpdpa_state_mend(MPDPA_NO_MODULE), "a command for the module");
}

/* The kernel's own answers, where it has Multipath TCP. */
static void test_kernel(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = mpdpa_socket(AF_INET);

	ok(mpdpa_probe(9999) == -EBADF, "no file descriptor");
	ok(mpdpa_probe(tcp) == MPDPA_PLAIN_TCP, "a TCP socket");
	ok(mpdpa_socket(AF_UNIX) == -EAFNOSUPPORT, "a family without Multipath TCP");
	if (fd < 0 || listen(tcp, 1) || getsockname(tcp, (struct sockaddr *)&address, &size) ||
	    connect(fd, (struct sockaddr *)&address, size))
		skip("no Multipath TCP here");
	else
		ok(mpdpa_probe(fd) == MPDPA_FELL_BACK, "a connection to a TCP server");
	if (fd >= 0)
		close(fd);
	close(tcp);
}

int main(void)
{
	test_decisions();
	test_sysctls();
	test_texts();
	test_kernel();
	return tap_end();
}
