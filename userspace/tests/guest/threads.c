// SPDX-License-Identifier: GPL-2.0
/*
 * threads: many threads use the library at once, each with handles of its own,
 * and all of them one socket besides. To be run where sockets can have deadlines.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#include "mpdpa.h"
#include "../tap.h"

#define THREADS		8
#define ROUNDS		40
#define BYTES		1000
#define WAIT_MS		5000

struct pair {
	int client, server;
};

struct job {
	struct pair own;
	int shared;
	const char *failed;	/* what went wrong, NULL if nothing */
	int err;
};

static bool connect_pair(struct pair *pair)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = mpdpa_socket(AF_INET);
	bool good;

	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		return false;
	pair->client = mpdpa_socket(AF_INET);
	good = !connect(pair->client, (struct sockaddr *)&address, size);
	pair->server = accept(listener, NULL, NULL);
	close(listener);
	return good && pair->server >= 0;
}

static bool failed(struct job *job, const char *what, int err)
{
	job->failed = what;
	job->err = err;
	return false;
}

/* One verdict by the handle: it was met. */
static bool hear(struct job *job, struct mpdpa_events *events)
{
	struct pollfd wait = { .fd = mpdpa_events_fd(events), .events = POLLIN };
	struct mpdpa_verdicts verdicts;
	int err;

	while (poll(&wait, 1, WAIT_MS) == 1) {
		err = mpdpa_events_read(events, &verdicts, sizeof(verdicts));
		if (err && err != -EAGAIN)
			return failed(job, "mpdpa_events_read", err);
		if (!err && verdicts.met == 1 && !verdicts.missed)
			return true;
	}
	return failed(job, "no verdict", 0);
}

static bool send_one(struct job *job, int fd, bool again)
{
	static const char data[BYTES];
	size_t sent;
	int err;

	do {
		err = mpdpa_chunk_send(fd, data, sizeof(data), 60 * MPDPA_SECOND, 0, &sent);
	} while (again && err == -ENOBUFS && !usleep(1000));
	return !err || failed(job, "mpdpa_chunk_send", err);
}

static int find(const struct mpdpa_conn *conn, void *data)
{
	uint64_t *wanted = data;

	if (conn->id == *wanted)
		*wanted = 0;
	return 0;
}

/* The connection is in a list of them all. */
static bool is_listed(struct job *job, struct mpdpa_ctl *ctl)
{
	struct mptcp_dpa_info info;
	uint64_t wanted;
	int err, tries = 100;

	err = mpdpa_info_get(job->own.client, &info, sizeof(info));
	if (err)
		return failed(job, "mpdpa_info_get", err);
	wanted = info.conn_id;
	do {
		err = mpdpa_conn_list(ctl, find, &wanted);
	} while (err == -EINTR && --tries);
	if (err)
		return failed(job, "mpdpa_conn_list", err);
	return !wanted || failed(job, "not listed", 0);
}

static bool one_round(struct job *job, struct mpdpa_ctl *ctl, struct mpdpa_events *events)
{
	char data[BYTES];

	if (!send_one(job, job->own.client, false))
		return false;
	if (recv(job->own.server, data, sizeof(data), MSG_WAITALL) != sizeof(data))
		return failed(job, "recv", -errno);
	return hear(job, events) && send_one(job, job->shared, true) && is_listed(job, ctl);
}

static void *work(void *arg)
{
	struct mpdpa_events *events;
	struct job *job = arg;
	struct mpdpa_ctl *ctl;
	int i, err;

	err = mpdpa_ctl_open(&ctl);
	if (err)
		return failed(job, "mpdpa_ctl_open", err), NULL;
	err = mpdpa_events_open(&events, job->own.client);
	if (err)
		return failed(job, "mpdpa_events_open", err), NULL;
	for (i = 0; i < ROUNDS; i++)
		if (!one_round(job, ctl, events))
			break;
	mpdpa_events_close(events);
	mpdpa_ctl_close(ctl);
	return NULL;
}

static void *drain(void *arg)
{
	const struct pair *pair = arg;
	char data[1 << 16];

	while (read(pair->server, data, sizeof(data)) > 0)
		;
	return NULL;
}

static uint64_t met_on(int fd)
{
	struct mptcp_dpa_info info = { 0 };
	int tries;

	for (tries = 0; tries < 500; tries++) {
		if (mpdpa_info_get(fd, &info, sizeof(info)) || !info.chunks_queued)
			break;
		usleep(10000);
	}
	return info.chunks_met;
}

int main(void)
{
	static struct job jobs[THREADS];
	pthread_t threads[THREADS], reader;
	struct pair shared;
	int i;

	if (!connect_pair(&shared))
		return perror("connect"), 1;
	pthread_create(&reader, NULL, drain, &shared);
	for (i = 0; i < THREADS; i++) {
		jobs[i].shared = shared.client;
		if (!connect_pair(&jobs[i].own))
			return perror("connect"), 1;
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		ok(!jobs[i].failed && met_on(jobs[i].own.client) == ROUNDS, "thread %d: %s %s", i,
		   jobs[i].failed ?: "all met", jobs[i].err ? strerror(-jobs[i].err) : "");
	}
	ok(met_on(shared.client) == THREADS * ROUNDS, "all chunks of all threads on one socket met");
	return tap_end();
}
