// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz: calls of every socket option and netlink operation with structured random
 * input, from several threads, while their connections live and die.
 *
 *	fuzz sink ADDRESS PORT			takes MPTCP connections at PORT
 *						and TCP at PORT + 1, and reads
 *	fuzz calls SEED CALLS THREADS ADDRESS PORT NETNS...
 *	fuzz waiters CALLS			each of some threads, at once, on one
 *						socket that is not connected
 *
 * Ends after CALLS calls, if that is not 0, or with SIGTERM. Prints how often each
 * was made and succeeded, as one JSON object. A thread wanders between the network
 * namespaces; its sockets stay where they were made.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/mptcp_dpa_sock.h>

#include "fuzz.h"

#define SOCKETS		48	/* open at a time, shared by all threads */
#define THREADS_MAX	16
#define NETNS_MAX	4
#define WAITERS		4	/* threads on one socket, */
#define WAIT_S		60	/* which may take so long */

static struct {
	struct sockaddr_in	address;
	int			netns[NETNS_MAX];
	uint32_t		netns_count;
	int			sockets[SOCKETS];
	uint64_t		limit;
	uint64_t		seed;
	bool			stock;	/* no module: no netlink family */
	volatile sig_atomic_t	told_to_end;
	uint64_t		calls;
	uint64_t		made[KINDS];
	uint64_t		good[KINDS];
} fuzz;

/* xorshift64*: of no cryptographic worth, but the same everywhere */
uint64_t draw(struct chance *c)
{
	c->state ^= c->state >> 12;
	c->state ^= c->state << 25;
	c->state ^= c->state >> 27;
	return c->state * 2685821657736338717ULL;
}

uint32_t below(struct chance *c, uint32_t n)
{
	return n ? (draw(c) >> 33) % n : 0;
}

bool one_in(struct chance *c, uint32_t n)
{
	return !below(c, n);
}

/* At a limit of some type, a power of two, or anything. */
uint64_t odd_number(struct chance *c)
{
	uint64_t power = 1ULL << below(c, 64);

	switch (below(c, 5)) {
	case 0: return power;
	case 1: return power - 1;
	case 2: return -power;
	case 3: return below(c, 300);
	default: return draw(c);
	}
}

void count(enum kind kind, bool good)
{
	__atomic_fetch_add(&fuzz.calls, 1, __ATOMIC_RELAXED);
	count_more(kind, good);
}

/* What was in a call that is counted elsewhere. */
void count_more(enum kind kind, bool good)
{
	__atomic_fetch_add(&fuzz.made[kind], 1, __ATOMIC_RELAXED);
	if (good)
		__atomic_fetch_add(&fuzz.good[kind], 1, __ATOMIC_RELAXED);
}

static bool is_over(void)
{
	return fuzz.told_to_end || (fuzz.limit && fuzz.calls >= fuzz.limit);
}

static void end(int signal)
{
	fuzz.told_to_end = 1;
}

static int *slot(struct chance *c)
{
	return &fuzz.sockets[below(c, SOCKETS)];
}

/* A new socket takes the place of an old one: mostly MPTCP. */
static void replace(struct chance *c)
{
	int protocol = one_in(c, 10) ? IPPROTO_TCP : IPPROTO_MPTCP;
	struct sockaddr_in to = fuzz.address;
	int fd, old;

	fd = one_in(c, 30) ? socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0) :
	     socket(one_in(c, 8) ? AF_INET6 : AF_INET,
		    SOCK_STREAM | SOCK_NONBLOCK, protocol);
	count(KIND_SOCKET, fd >= 0);
	if (fd < 0)
		return;
	/* at the second port the peer has no MPTCP: a fallback */
	if (one_in(c, 5))
		to.sin_port = htons(ntohs(to.sin_port) + 1);
	if (!one_in(c, 6))
		count(KIND_CONNECT,
		      !connect(fd, (void *)&to, sizeof(to)) || errno == EINPROGRESS);
	if (one_in(c, 20))
		listen(fd, 4);
	old = __atomic_exchange_n(slot(c), fd, __ATOMIC_RELAXED);
	if (old >= 0)
		count(KIND_CLOSE, !close(old));
}

static void disconnect(int fd)
{
	struct sockaddr nothing = { .sa_family = AF_UNSPEC };

	count(KIND_DISCONNECT, !connect(fd, &nothing, sizeof(nothing)));
}

static int open_family(uint16_t *family)
{
	return fuzz.stock ? -1 : netlink_open(family);
}

static void wander(struct chance *c, int *nl, uint16_t *family)
{
	int to = fuzz.netns[below(c, fuzz.netns_count)];

	count(KIND_NETNS, !setns(to, CLONE_NEWNET));
	if (*nl >= 0)
		close(*nl);
	*nl = open_family(family);
}

static void write_setting(struct chance *c)
{
	static const struct {
		const char	*name;
		uint32_t	most;
	} settings[] = {
		{ "alpha_milli", 4000 },	{ "policy", 1 },
		{ "interval_us", 1000000 },	{ "hysteresis_us", 10000000 },
		{ "late_policy", 2 },		{ "chunks_max", 64 },
		{ "signal_peer", 1 },		{ "overflow_ms", 60000 },
	};
	uint32_t i = below(c, sizeof(settings) / sizeof(settings[0]));
	char path[80], text[32];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/mptcp_dpa/%s",
		 settings[i].name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%lld\n",
		 (long long)(one_in(c, 2) ? below(c, settings[i].most + 1) :
					    odd_number(c)));
	good = write(fd, text, strlen(text)) > 0;
	count(KIND_SYSCTL, good);
	count_more(KIND_SETTING + i, good);
	close(fd);
}

static void traffic(struct chance *c, int fd)
{
	static const char data[65536];
	char sink[4096];

	if (one_in(c, 4))
		count(KIND_RECV, recv(fd, sink, sizeof(sink), MSG_DONTWAIT) >= 0);
	else
		count(KIND_SEND, send(fd, data, 1 + below(c, sizeof(data)),
				      MSG_DONTWAIT | MSG_NOSIGNAL) > 0);
}

static void *work(void *number)
{
	struct chance c = { fuzz.seed * 977 + (uintptr_t)number * 131 + 1 };
	uint16_t family = 0;
	int nl = open_family(&family), fd;

	while (!is_over()) {
		fd = __atomic_load_n(slot(&c), __ATOMIC_RELAXED);
		switch (below(&c, 32)) {
		case 0: replace(&c); break;
		case 1: count(KIND_SHUTDOWN, !shutdown(fd, below(&c, 3))); break;
		case 2:
			if (one_in(&c, 4))
				disconnect(fd);
			break;
		case 3:
			if (one_in(&c, 20))
				wander(&c, &nl, &family);
			break;
		case 4: write_setting(&c); break;
		case 5 ... 8: traffic(&c, fd); break;
		case 9 ... 17: fuzz_setsockopt(&c, fd); break;
		case 18 ... 25: fuzz_getsockopt(&c, fd); break;
		default: fuzz_netlink(&c, nl, family); break;
		}
		/* the scheduler, hence the module's options, come and go */
		if (nl < 0)
			nl = open_family(&family);
	}
	close(nl);
	return NULL;
}

static int calls(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	unsigned long count = strtoul(argv[4], NULL, 0);
	unsigned long i;

	fuzz.stock = getenv("FUZZ_STOCK");
	fuzz.seed = strtoull(argv[2], NULL, 0);
	fuzz.limit = strtoull(argv[3], NULL, 0);
	fuzz.address.sin_family = AF_INET;
	fuzz.address.sin_port = htons(atoi(argv[6]));
	if (inet_pton(AF_INET, argv[5], &fuzz.address.sin_addr) != 1)
		return 2;
	for (i = 7; i < (unsigned long)argc && fuzz.netns_count < NETNS_MAX; i++) {
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return perror(argv[i]), 2;
		fuzz.netns[fuzz.netns_count++] = fd;
	}
	memset(fuzz.sockets, 0xff, sizeof(fuzz.sockets));
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	signal(SIGTERM, end);
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("{\"calls\":%llu", (unsigned long long)fuzz.calls);
	for (i = 0; i < KINDS; i++)
		if (fuzz.made[i])
			printf(",\"%lu\":[%llu,%llu]", i,
			       (unsigned long long)fuzz.made[i],
			       (unsigned long long)fuzz.good[i]);
	puts("}");
	return 0;
}

struct crowd {
	int			fd;
	unsigned long		calls;
	pthread_barrier_t	all;
};

/* Each call has the module look at the socket, which waits for it too. */
static bool wait_in_line(int fd)
{
	struct mptcp_dpa_pref pref = { .kind = MPTCP_DPA_PREF_ENDPOINT, .cost = 1, .id = 1 };

	return !setsockopt(fd, SOL_MPTCP, MPTCP_DPA_PREF, &pref, sizeof(pref));
}

static void *wait_often(void *arg)
{
	struct crowd *crowd = arg;
	void *failed = NULL;
	unsigned long i;

	for (i = 0; i < crowd->calls; i++) {
		if (!wait_in_line(crowd->fd) && !failed) {
			perror("setsockopt");
			failed = arg;
		}
		/* who goes on would wake those whom another forgot */
		pthread_barrier_wait(&crowd->all);
	}
	return failed;
}

/* One that nobody wakes waits for the next call: for good, but for that made here. */
static int waiters(unsigned long calls)
{
	struct crowd crowd = {
		.fd = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP), .calls = calls,
	};
	pthread_t threads[WAITERS];
	struct timespec until;
	int i, bad = 0;

	pthread_barrier_init(&crowd.all, NULL, WAITERS);
	for (i = 0; i < WAITERS; i++)
		if (pthread_create(&threads[i], NULL, wait_often, &crowd))
			return 1;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	for (i = 0; i < WAITERS; i++) {
		void *failed = NULL;

		if (pthread_timedjoin_np(threads[i], &failed, &until)) {
			puts("a thread waits, and nobody owns the socket");
			wait_in_line(crowd.fd);
			return 1;
		}
		bad |= !!failed;
	}
	return bad;
}

static int listener(const char *address, int port, int protocol)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, protocol), yes = 1;

	inet_pton(AF_INET, address, &at.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) || listen(fd, 64)) {
		perror("sink");
		exit(1);
	}
	return fd;
}

/* Reads whatever comes, for ever; answers a little. */
static int sink(const char *address, int port)
{
	int at[] = { listener(address, port, IPPROTO_MPTCP),
		     listener(address, port + 1, IPPROTO_TCP) };
	int poll = epoll_create1(0), fd;
	struct epoll_event event = { .events = EPOLLIN };
	static char data[1 << 17];
	ssize_t n;

	for (fd = 0; fd < 2; fd++) {
		event.data.fd = at[fd];
		epoll_ctl(poll, EPOLL_CTL_ADD, at[fd], &event);
	}
	while (epoll_wait(poll, &event, 1, -1) == 1 || errno == EINTR) {
		fd = event.data.fd;
		if (fd == at[0] || fd == at[1]) {
			fd = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
			event.events = EPOLLIN;
			event.data.fd = fd;
			if (fd >= 0)
				epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
			continue;
		}
		n = recv(fd, data, sizeof(data), 0);
		if (n > 1000)
			send(fd, data, n / 1000, MSG_DONTWAIT | MSG_NOSIGNAL);
		else if (!n || (n < 0 && errno != EAGAIN))
			close(fd);
	}
	return 1;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 4 && !strcmp(argv[1], "sink"))
		return sink(argv[2], atoi(argv[3]));
	if (argc > 7 && !strcmp(argv[1], "calls"))
		return calls(argc, argv);
	if (argc == 3 && !strcmp(argv[1], "waiters"))
		return waiters(strtoul(argv[2], NULL, 0));
	fprintf(stderr, "usage: fuzz sink|calls|waiters ..., see fuzz.c\n");
	return 2;
}
