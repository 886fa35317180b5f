// SPDX-License-Identifier: GPL-2.0
/* The library on live connections. Skips where deadlines are not available. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#include "mpdpa.h"
#include "tap.h"

#define BYTES		(4 << 20)
#define SCHEDULER	"/proc/sys/net/mptcp/scheduler"

struct pair {
	int client;
	int server;
};

/* A connection over the loopback; the listener's protocol is given. */
static bool connect_pair(struct pair *pair, int protocol)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, protocol);
	bool good;

	pair->client = mpdpa_socket(AF_INET);
	good = !listen(listener, 1) &&
	       !getsockname(listener, (struct sockaddr *)&address, &size) &&
	       !connect(pair->client, (struct sockaddr *)&address, size);
	pair->server = good ? accept(listener, NULL, NULL) : -1;
	close(listener);
	return ok(good && pair->server >= 0, "connect");
}

static void close_pair(struct pair *pair)
{
	close(pair->client);
	close(pair->server);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MPDPA_SECOND + now.tv_nsec;
}

static void test_refusals(int fd)
{
	struct mptcp_dpa_chunk chunk = { .length = 1, .deadline_ns = MPDPA_SECOND };
	struct { struct mptcp_dpa_chunk chunk; uint64_t more; } longer = { chunk, 1 };

	ok(mpdpa_chunk_set(fd, &chunk, 31) == -EINVAL, "too short");
	ok(mpdpa_chunk_set(fd, &longer.chunk, sizeof(longer)) == -E2BIG, "unknown field");
	ok(mpdpa_chunk_set(fd, &chunk, SIZE_MAX) == -E2BIG, "absurdly long");
	ok(mpdpa_chunk_in(fd, 0, MPDPA_SECOND) == -ENODATA, "no length");
	ok(mpdpa_chunk_in(fd, (1ULL << 62) + 1, MPDPA_SECOND) == -EFBIG, "too many bytes");
	ok(mpdpa_chunk_in(fd, 1, 0) == -ETIME, "now");
	ok(mpdpa_chunk_by(fd, 1, now_ns() - 1) == -ETIME, "a moment ago");
	ok(mpdpa_chunk_in(fd, 1, INT64_MAX) == -EOVERFLOW, "too far from now");
	ok(mpdpa_chunk_by(fd, 1, UINT64_MAX) == -EOVERFLOW, "too late");
	chunk.flags = 1U << 31;
	ok(mpdpa_chunk_set(fd, &chunk, sizeof(chunk)) == -EINVAL, "unknown flag");
	chunk.flags = 0;
	chunk.alpha_milli = MPTCP_DPA_ALPHA_MAX + 1;
	ok(mpdpa_chunk_set(fd, &chunk, sizeof(chunk)) == -EINVAL, "alpha out of range");
}

static void test_info(int fd)
{
	static const char bytes[1000];
	struct mptcp_dpa_chunk chunk = {
		.length = sizeof(bytes), .deadline_ns = MPDPA_SECOND, .cookie = 77, .alpha_milli = 500,
	};
	struct mptcp_dpa_path_info row;
	struct mptcp_dpa_info info;

	ok(!mpdpa_info_get(fd, &info, sizeof(info)) && !info.chunks_queued && !info.flags,
	   "info before the first chunk");
	ok(mpdpa_info_get(fd, &info, 15) == -EINVAL, "no room for info");
	ok(!mpdpa_chunk_set(fd, &chunk, sizeof(chunk)), "set a chunk");
	ok(!mpdpa_info_get(fd, &info, sizeof(info)) && info.chunks_queued == 1 &&
	   (info.flags & MPTCP_DPA_INFO_F_CHUNK) && info.chunk_length == 1000 &&
	   info.chunk_cookie == 77 && info.chunk_alpha_milli == 500 &&
	   info.chunk_deadline_ns - info.now_ns <= MPDPA_SECOND, "info of the chunk");
	ok(!mpdpa_info_path(&info, sizeof(info), 0, &row, sizeof(row)) && row.subflow_id &&
	   row.cost, "its first subflow");
	ok(mpdpa_info_path(&info, sizeof(info), info.paths, &row, sizeof(row)) == -ENOENT,
	   "no more subflows");
	send(fd, bytes, sizeof(bytes), 0);
}

/* Reads everything, slowly at first, so that the sender has to wait. */
static void *reader(void *arg)
{
	char *buffer = malloc(1 << 16);
	size_t total = 0;
	ssize_t n;

	usleep(200000);
	while ((n = read(*(int *)arg, buffer, 1 << 16)) > 0)
		total += n;
	free(buffer);
	return (void *)total;
}

static void test_send(int flags, const char *what)
{
	char *data = calloc(1, BYTES);
	pthread_t thread;
	struct pair pair;
	size_t sent = 0;
	void *got;
	int err;

	if (!connect_pair(&pair, IPPROTO_MPTCP))
		return;
	fcntl(pair.client, F_SETFL, flags);
	pthread_create(&thread, NULL, reader, &pair.server);
	err = mpdpa_chunk_send(pair.client, data, BYTES, 10 * MPDPA_SECOND, 0, &sent);
	ok(!err && sent == BYTES, "send a chunk, %s: %s", what, strerror(-err));
	shutdown(pair.client, SHUT_WR);
	pthread_join(thread, &got);
	ok(got == (void *)BYTES, "all of it has come");
	ok(mpdpa_chunk_send(pair.client, data, 1, MPDPA_SECOND, 0, &sent) == -EPIPE && !sent,
	   "send after shutdown");
	close_pair(&pair);
	free(data);
}

static void on_alarm(int number)
{
	(void)number;
}

static void test_interrupted(void)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	char *data = calloc(1, BYTES);
	size_t sent = BYTES;
	struct pair pair;

	if (!connect_pair(&pair, IPPROTO_MPTCP))
		return;
	fcntl(pair.client, F_SETFL, O_NONBLOCK);
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	ok(mpdpa_chunk_send(pair.client, data, BYTES, 10 * MPDPA_SECOND, 0, &sent) == -EINTR &&
	   sent > 0 && sent < BYTES, "interrupted while nobody reads");
	close_pair(&pair);
	free(data);
}

static void test_fallback(void)
{
	struct pair pair;

	if (!connect_pair(&pair, IPPROTO_TCP))
		return;
	ok(mpdpa_probe(pair.client) == MPDPA_FELL_BACK, "probe: fell back");
	ok(mpdpa_chunk_in(pair.client, 1, MPDPA_SECOND) == -EPROTONOSUPPORT, "fell back");
	ok(mpdpa_probe(pair.server) == MPDPA_PLAIN_TCP, "probe: plain TCP");
	ok(mpdpa_chunk_in(pair.server, 1, MPDPA_SECOND) == -ENOPROTOOPT, "plain TCP");
	close_pair(&pair);
}

static bool select_scheduler(const char *name)
{
	int fd = open(SCHEDULER, O_WRONLY);
	bool good = fd >= 0 && write(fd, name, strlen(name)) > 0;

	if (fd >= 0)
		close(fd);
	return good;
}

static void test_selection(void)
{
	int fd;

	if (!select_scheduler("default")) {
		skip("not allowed to select schedulers");
		return;
	}
	fd = mpdpa_socket(AF_INET6);
	ok(mpdpa_probe(fd) == MPDPA_NOT_SELECTED, "probe: not selected");
	select_scheduler("mpdpa");
	ok(mpdpa_probe(fd) == MPDPA_OTHER_SCHEDULER, "probe: made under another scheduler");
	ok(mpdpa_chunk_in(fd, 1, MPDPA_SECOND) == -EOPNOTSUPP, "under another scheduler");
	close(fd);
	fd = mpdpa_socket(AF_INET6);
	ok(mpdpa_probe(fd) == MPDPA_READY, "probe: ready with IPv6");
	close(fd);
}

int main(void)
{
	struct pair pair;

	if (mpdpa_probe(-1) != MPDPA_READY) {
		skip("%s", mpdpa_state_text(mpdpa_probe(-1)));
		return tap_end();
	}
	if (connect_pair(&pair, IPPROTO_MPTCP)) {
		ok(mpdpa_probe(pair.client) == MPDPA_READY, "probe: ready");
		ok(mpdpa_probe(pair.server) == MPDPA_READY, "probe: ready, accepted");
		test_refusals(pair.client);
		test_info(pair.client);
		close_pair(&pair);
	}
	test_send(0, "blocking");
	test_send(O_NONBLOCK, "non-blocking");
	test_interrupted();
	test_fallback();
	test_selection();
	return tap_end();
}
