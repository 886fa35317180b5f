// SPDX-License-Identifier: GPL-2.0
/*
 * What the attached socket-option programs cost a call that is none of theirs.
 * For a guest whose clock counts instructions: one is a nanosecond.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define CALLS		2000
#define ROUNDS		5
/* Until the kernel has done what it does in its first seconds. */
#define SETTLE_S	20
#define OTHER_CGROUP	"/sys/fs/cgroup/mpdpa-bench"

struct call {
	const char *socket;
	const char *name;
	int protocol;
	int level;
	int option;
	bool set;
};

static const struct call calls[] = {
	{ "TCP", "setsockopt(SO_KEEPALIVE)", IPPROTO_TCP, SOL_SOCKET, SO_KEEPALIVE, true },
	{ "TCP", "getsockopt(SO_KEEPALIVE)", IPPROTO_TCP, SOL_SOCKET, SO_KEEPALIVE, false },
	{ "TCP", "setsockopt(TCP_NODELAY)", IPPROTO_TCP, IPPROTO_TCP, TCP_NODELAY, true },
	{ "TCP", "getsockopt(TCP_NODELAY)", IPPROTO_TCP, IPPROTO_TCP, TCP_NODELAY, false },
	{ "MPTCP", "setsockopt(SO_KEEPALIVE)", IPPROTO_MPTCP, SOL_SOCKET, SO_KEEPALIVE, true },
	{ "MPTCP", "getsockopt(SO_KEEPALIVE)", IPPROTO_MPTCP, SOL_SOCKET, SO_KEEPALIVE, false },
	{ "MPTCP", "setsockopt(TCP_NODELAY)", IPPROTO_MPTCP, IPPROTO_TCP, TCP_NODELAY, true },
	{ "MPTCP", "getsockopt(TCP_NODELAY)", IPPROTO_MPTCP, IPPROTO_TCP, TCP_NODELAY, false },
};

#define COUNT	(sizeof(calls) / sizeof(calls[0]))

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Nanoseconds for one call, the mean of many; of several rounds the least. */
static uint64_t measure(const struct call *call)
{
	uint64_t least = UINT64_MAX;
	int fd = socket(AF_INET, SOCK_STREAM, call->protocol);
	int round, i;

	if (fd < 0)
		die("socket");
	for (round = 0; round < ROUNDS; round++) {
		uint64_t begun = now_ns(), each;

		for (i = 0; i < CALLS; i++) {
			int value = 1;
			socklen_t size = sizeof(value);

			if (call->set ? setsockopt(fd, call->level, call->option, &value, size) :
					getsockopt(fd, call->level, call->option, &value, &size))
				die(call->name);
		}
		each = (now_ns() - begun) / CALLS;
		if (each < least)
			least = each;
	}
	close(fd);
	return least;
}

static void measure_all(uint64_t *results)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		results[i] = measure(&calls[i]);
}

static void run(const char *command)
{
	if (system(command)) {
		fprintf(stderr, "%s failed\n", command);
		exit(1);
	}
}

int main(void)
{
	uint64_t without[COUNT], elsewhere[COUNT], attached[COUNT], after[COUNT];
	size_t i;

	sleep(SETTLE_S);
	measure_all(without);
	mkdir(OTHER_CGROUP, 0755);
	run("mpdpa load --cgroup " OTHER_CGROUP);
	measure_all(elsewhere);
	run("mpdpa unload && mpdpa load");
	measure_all(attached);
	run("mpdpa unload");
	measure_all(after);

	printf("| socket | call | nothing attached | attached to another cgroup | attached | more |\n");
	printf("|---|---|---|---|---|---|\n");
	for (i = 0; i < COUNT; i++)
		printf("| %s | `%s` | %lu | %lu | %lu | %+ld |\n", calls[i].socket, calls[i].name,
		       without[i], elsewhere[i], attached[i], attached[i] - without[i]);
	for (i = 0; i < COUNT; i++) {
		if (labs((long)(after[i] - without[i])) > (long)without[i] / 50)
			printf("# %s %s: %lu after they were detached\n", calls[i].socket,
			       calls[i].name, after[i]);
	}
	return 0;
}
