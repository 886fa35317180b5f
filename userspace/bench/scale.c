// SPDX-License-Identifier: GPL-2.0
/*
 * scale [CONNECTIONS]: many live connections with a chunk each, over the
 * loopback. What their state takes, how long a dump of them all is, and that it
 * shows each that lives throughout once, also while others come and go.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "mpdpa.h"

#define COUNT		10000
#define PORT		5000
#define BACKLOG		512
/* The state comes from a cache of its own, its chunks from some that nothing else here uses. */
static const char *const caches[] = { "mptcp_dpa_conn", "kmalloc-cg-" };
/* bytes that each closed connection may leave in them: a tenth of its state */
#define KEPT_MAX	200
/* While a dump runs: at every so many connections one that has state comes or goes. */
#define CHURN_EVERY	20

struct fleet {
	unsigned int count;
	int *client;
	int *server;
	uint64_t *id;		/* growing; 0: it was closed */
};

static unsigned int fell_back;

struct check {
	struct fleet *fleet;
	unsigned char *seen;	/* how often, by index */
	unsigned int total, strangers, doubles;
	uint64_t last;
	unsigned int churn;	/* 0: none; else the next of the fleet to close */
	unsigned int opened, closed;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MPDPA_SECOND + now.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void raise_limits(unsigned int count)
{
	const struct rlimit limit = { 3 * count + 100, 3 * count + 100 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		die("RLIMIT_NOFILE");
}

static int connect_one(int listener, int *server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = mpdpa_socket(AF_INET);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	*server = accept(listener, NULL, NULL);
	if (*server < 0)
		die("accept");
	return fd;
}

/*
 * The kernel's table of tokens has a slot for each MB of memory and four tokens
 * in a slot at most; a connection that finds none falls back. Those do not count.
 */
static int connect_mptcp(int listener, int *server)
{
	int fd = connect_one(listener, server);

	while (mpdpa_probe(fd) == MPDPA_FELL_BACK) {
		close(fd);
		close(*server);
		fell_back++;
		fd = connect_one(listener, server);
	}
	return fd;
}

static int listen_at_port(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(PORT),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = mpdpa_socket(AF_INET);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, BACKLOG))
		die("listen");
	return fd;
}

static uint64_t set_chunk(int fd)
{
	struct mptcp_dpa_info info;
	int err = mpdpa_chunk_in(fd, 1000, 3600 * MPDPA_SECOND);

	if (!err)
		err = mpdpa_info_get(fd, &info, sizeof(info));
	if (err) {
		fprintf(stderr, "chunk: %s\n", strerror(-err));
		exit(1);
	}
	return info.conn_id;
}

static bool is_counted(const char *cache)
{
	unsigned int i;

	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
		if (!strncmp(cache, caches[i], strlen(caches[i])))
			return true;
	return false;
}

/* What a processor keeps of a cache for itself counts as live until it gives that up. */
static void shrink_caches(void)
{
	char name[128];
	glob_t found;
	unsigned int i;
	size_t k;

	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		snprintf(name, sizeof(name), "/sys/kernel/slab/%s*/shrink", caches[i]);
		if (glob(name, 0, NULL, &found))
			continue;
		for (k = 0; k < found.gl_pathc; k++) {
			int fd = open(found.gl_pathv[k], O_WRONLY | O_CLOEXEC);

			if (fd < 0 || write(fd, "1", 1) != 1)
				die(found.gl_pathv[k]);
			close(fd);
		}
		globfree(&found);
	}
}

/* Bytes of live objects in the caches that state comes from. */
static uint64_t slab_bytes(void)
{
	FILE *file;
	char line[400], name[64];
	unsigned long active, count, size;
	uint64_t bytes = 0;

	/* what waits for an RCU grace period is not live */
	usleep(200000);
	shrink_caches();
	file = fopen("/proc/slabinfo", "re");
	if (!file)
		die("/proc/slabinfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %lu %lu %lu", name, &active, &count, &size) == 4 &&
		    is_counted(name))
			bytes += active * size;
	}
	fclose(file);
	return bytes;
}

static int find(const struct fleet *fleet, uint64_t id)
{
	unsigned int low = 0, high = fleet->count;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (fleet->id[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < fleet->count && fleet->id[low] == id ? (int)low : -1;
}

/* One of the fleet goes, a new one with state comes, and one with state is replaced. */
static void churn(struct check *check)
{
	static int newcomers[64];
	static unsigned int at;
	unsigned int i = check->churn++ * CHURN_EVERY % check->fleet->count;

	if (check->fleet->client[i] >= 0) {
		close(check->fleet->client[i]);
		close(check->fleet->server[i]);
		check->fleet->client[i] = -1;
		check->closed++;
	}
	if (newcomers[at])
		close(newcomers[at]);
	newcomers[at] = mpdpa_socket(AF_INET);
	if (newcomers[at] < 0)
		die("socket");
	set_chunk(newcomers[at]);
	check->opened++;
	at = (at + 1) % 64;
}

static int on_conn(const struct mpdpa_conn *conn, void *data)
{
	struct check *check = data;
	int i = find(check->fleet, conn->id);

	check->total++;
	if (conn->id <= check->last)
		check->doubles++;
	check->last = conn->id;
	if (i < 0)
		check->strangers++;
	else
		check->seen[i]++;
	if (check->churn && check->total % CHURN_EVERY == 0)
		churn(check);
	return 0;
}

/* One dump, checked. */
static bool dump(struct fleet *fleet, bool with_churn)
{
	struct check check = { .fleet = fleet, .churn = with_churn };
	unsigned int i, missing = 0, twice = 0, live = 0;
	struct mpdpa_ctl *ctl;
	uint64_t begun, took;
	int err;

	check.seen = calloc(fleet->count, 1);
	err = mpdpa_ctl_open(&ctl);
	if (err) {
		fprintf(stderr, "netlink: %s\n", strerror(-err));
		exit(1);
	}
	begun = now_ns();
	err = mpdpa_conn_list(ctl, on_conn, &check);
	took = now_ns() - begun;
	mpdpa_ctl_close(ctl);
	for (i = 0; i < fleet->count; i++) {
		live += fleet->client[i] >= 0;
		missing += fleet->client[i] >= 0 && !check.seen[i];
		twice += check.seen[i] > 1;
	}
	printf("dump%s: %u connections, %u of the fleet alive throughout, missing %u, twice %u, not in order %u",
	       with_churn ? " with churn" : "", check.total, live, missing, twice, check.doubles);
	if (with_churn)
		printf(", %u opened and %u closed meanwhile, %u of the new seen", check.opened,
		       check.closed, check.strangers);
	printf("; %.1f ms, %.1f us each\n", took / 1e6, took / 1e3 / check.total);
	free(check.seen);
	return !err && !missing && !twice && !check.doubles && (with_churn || !check.strangers) &&
	       check.total >= live;
}

static uint64_t connections(void)
{
	struct mpdpa_stats stats = { 0 };
	struct mpdpa_ctl *ctl;

	if (mpdpa_ctl_open(&ctl))
		die("netlink");
	mpdpa_stats_get(ctl, &stats, sizeof(stats));
	mpdpa_ctl_close(ctl);
	return stats.connections;
}

static void close_all(struct fleet *fleet)
{
	unsigned int i;

	for (i = 0; i < fleet->count; i++) {
		if (fleet->client[i] < 0)
			continue;
		close(fleet->client[i]);
		close(fleet->server[i]);
	}
	/* also the newcomers, which are all that are left */
	for (i = 3; i < 3 * fleet->count + 100; i++)
		close(i);
}

int main(int argc, char **argv)
{
	struct fleet fleet = { .count = argc > 1 ? atoi(argv[1]) : COUNT };
	uint64_t before, between, after, begun, set_ns;
	double kept;
	bool good;
	unsigned int i;
	int listener, tries;

	setvbuf(stdout, NULL, _IOLBF, 0);
	raise_limits(fleet.count);
	fleet.client = calloc(fleet.count, sizeof(*fleet.client));
	fleet.server = calloc(fleet.count, sizeof(*fleet.server));
	fleet.id = calloc(fleet.count, sizeof(*fleet.id));
	listener = listen_at_port();
	before = slab_bytes();
	for (i = 0; i < fleet.count; i++)
		fleet.client[i] = connect_mptcp(listener, &fleet.server[i]);
	between = slab_bytes();
	begun = now_ns();
	for (i = 0; i < fleet.count; i++)
		fleet.id[i] = set_chunk(fleet.client[i]);
	set_ns = now_ns() - begun;
	after = slab_bytes();
	printf("connections: %u, of them with state %lu; beside them %u fell back to TCP\n",
	       fleet.count, connections(), fell_back);
	printf("memory: %.0f bytes each for state and one chunk (the connections themselves took %.0f of these caches)\n",
	       (double)(after - between) / fleet.count, (double)(between - before) / fleet.count);
	printf("to set a chunk and read the info: %.1f us\n", set_ns / 1e3 / fleet.count);
	good = connections() == fleet.count;
	good = dump(&fleet, false) && good;
	good = dump(&fleet, true) && good;
	close(listener);
	close_all(&fleet);
	for (tries = 0; tries < 100 && connections(); tries++)
		usleep(100000);
	kept = (double)(int64_t)(slab_bytes() - before) / fleet.count;
	printf("after all were closed: %lu with state, %+.0f bytes kept each, %d allowed\n",
	       connections(), kept, KEPT_MAX);
	good = good && !connections() && kept <= KEPT_MAX;
	printf("%sok 1 - all of them are shown, once, and nothing is left\n1..1\n", good ? "" : "not ");
	return !good;
}
