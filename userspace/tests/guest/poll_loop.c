// SPDX-License-Identifier: GPL-2.0
/*
 * poll_loop CLIENT-NETNS SERVER-NETNS ADDRESS: a sender without privileges
 * that learns by poll(2) what has become of its chunks. Prints, a line each, how
 * long after the peer had the last byte it knew, for chunks that were met, and how
 * long after the deadline, for those that were missed; in microseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#include "mpdpa.h"
#include "../tap.h"

#define PORT		5001
#define NOBODY		65534
#define ROUNDS		20
#define MET_BYTES	20000
#define MISSED_BYTES	400000
#define WAIT_MS		5000
#define PAUSE_US	50000

struct peer {
	int fd;
	size_t received;
	uint64_t expected;	/* when so much has come, the time is taken */
	uint64_t at_ns;
	pthread_mutex_t lock;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MPDPA_SECOND + now.tv_nsec;
}

static bool enter(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && !setns(fd, CLONE_NEWNET) && !close(fd);
}

static void *read_all(void *arg)
{
	static char buffer[1 << 16];
	struct peer *peer = arg;
	ssize_t n;

	while ((n = read(peer->fd, buffer, sizeof(buffer))) > 0) {
		uint64_t at = now_ns();

		pthread_mutex_lock(&peer->lock);
		peer->received += n;
		if (!peer->at_ns && peer->received >= peer->expected)
			peer->at_ns = at;
		pthread_mutex_unlock(&peer->lock);
	}
	return NULL;
}

static void expect(struct peer *peer, size_t more)
{
	pthread_mutex_lock(&peer->lock);
	peer->expected += more;
	peer->at_ns = 0;
	pthread_mutex_unlock(&peer->lock);
}

static uint64_t arrived(struct peer *peer)
{
	uint64_t at;

	pthread_mutex_lock(&peer->lock);
	at = peer->at_ns;
	pthread_mutex_unlock(&peer->lock);
	return at;
}

/* Both ends, each in its namespace. */
static bool connect_ends(char **argv, int *client, struct peer *peer)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int listener, on = 1;

	if (inet_pton(AF_INET, argv[3], &address.sin_addr) != 1 || !enter(argv[2]))
		return false;
	listener = mpdpa_socket(AF_INET);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		return false;
	if (!enter(argv[1]))
		return false;
	*client = mpdpa_socket(AF_INET);
	if (connect(*client, (struct sockaddr *)&address, sizeof(address)))
		return false;
	peer->fd = accept(listener, NULL, NULL);
	close(listener);
	return peer->fd >= 0;
}

static bool drop_privileges(void)
{
	return !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY);
}

/* Waits for a verdict; when it came, 0 for never. */
static uint64_t wait_for_verdict(struct mpdpa_events *events, struct mpdpa_verdicts *verdicts)
{
	struct pollfd wait = { .fd = mpdpa_events_fd(events), .events = POLLIN };

	while (poll(&wait, 1, WAIT_MS) == 1) {
		uint64_t at = now_ns();
		int err = mpdpa_events_read(events, verdicts, sizeof(*verdicts));

		if (!err && (verdicts->met || verdicts->missed))
			return at;
		if (err && err != -EAGAIN)
			return 0;
	}
	return 0;
}

/*
 * With a pause the chunk is long set when its bytes come, and nobody looks at
 * it before its deadline unless the bytes themselves see to that.
 */
static bool round_met(int fd, struct mpdpa_events *events, struct peer *peer, bool pause)
{
	static const char data[MET_BYTES];
	struct mpdpa_verdicts verdicts;
	uint64_t at;

	expect(peer, sizeof(data));
	if (mpdpa_chunk_in(fd, sizeof(data), MPDPA_SECOND))
		return false;
	if (pause)
		usleep(PAUSE_US);
	if (send(fd, data, sizeof(data), 0) != sizeof(data))
		return false;
	at = wait_for_verdict(events, &verdicts);
	if (!at || verdicts.met != 1 || verdicts.missed || !arrived(peer))
		return false;
	printf("# met %lld\n", (long long)(at - arrived(peer)) / 1000);
	return true;
}

static bool round_missed(int fd, struct mpdpa_events *events, struct peer *peer, uint64_t in_ns)
{
	static const char data[MISSED_BYTES];
	struct mptcp_dpa_info info;
	struct mpdpa_verdicts verdicts;
	uint64_t deadline = now_ns() + in_ns, at;

	expect(peer, sizeof(data));
	if (mpdpa_chunk_send(fd, data, sizeof(data), deadline, MPTCP_DPA_CHUNK_F_ABS, NULL))
		return false;
	at = wait_for_verdict(events, &verdicts);
	if (!at || verdicts.missed != 1 || verdicts.met)
		return false;
	printf("# missed %lld\n", (long long)(at - deadline) / 1000);
	/* so that the next one begins with nothing in front of it */
	do
		usleep(10000);
	while (!mpdpa_info_get(fd, &info, sizeof(info)) && info.chunks_queued);
	return true;
}

int main(int argc, char **argv)
{
	struct peer peer = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct mpdpa_events *events;
	pthread_t thread;
	int fd, i, met = 0, missed = 0;

	if (argc != 4 || !connect_ends(argv, &fd, &peer))
		return perror("connect"), 1;
	pthread_create(&thread, NULL, read_all, &peer);
	ok(drop_privileges(), "no privileges");
	ok(!mpdpa_events_open(&events, fd), "listen");
	for (i = 0; i < ROUNDS; i++)
		met += round_met(fd, events, &peer, i % 2);
	ok(met == ROUNDS, "%d of %d met", met, ROUNDS);
	for (i = 0; i < ROUNDS; i++)
		missed += round_missed(fd, events, &peer, MPDPA_SECOND / 10);
	ok(missed == ROUNDS, "%d of %d missed", missed, ROUNDS);
	mpdpa_events_close(events);
	close(fd);
	return tap_end();
}
