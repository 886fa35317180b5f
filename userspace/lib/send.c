// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Messages with deadlines over one socket, without ever waiting.
 *
 * A chunk cannot be made shorter once it is set, but what is dropped must not be
 * part of it, or the next message would count for it. So the message is an
 * interval of a stream, which ends where the writing ends: when the message is
 * done the next stream is set, and its interval begins with the next message.
 * If it were stopped there instead, the next message would be refused (-EBUSY)
 * while this one's chunk waits.
 *
 * What the kernel has cannot be dropped. While a message may be, the kernel takes
 * little more than it can send at once (TCP_NOTSENT_LOWAT).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

#include "attr.h"
#include "mpdpa.h"
#include "socket.h"

#define LENGTH_MAX	(1ULL << 62)
/* An interval, and so a message, lasts no longer. */
#define INTERVAL_NS	(3600 * MPDPA_SECOND)
/* A first byte that comes so late after the beginning sets the deadline anew. */
#define LATE_START_NS	100000
/* What the kernel may have unsent of a message that may be dropped. */
#define HELD_BACK_BYTES	(128 * 1024)

struct mpdpa_send {
	int fd;			/* the socket, not ours to close */
	int epoll;
	int timer;		/* runs while a message may be dropped */
	uint64_t cookie;	/* of the socket */
	uint64_t armed_ns;	/* when its deadline was told */
	int lowat;		/* TCP_NOTSENT_LOWAT as it was, and what it is now */
	int lowat_now;
	uint32_t flags;
	struct mpdpa_progress progress;	/* but for acked */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MPDPA_SECOND + now.tv_nsec;
}

static int socket_cookie(int fd, uint64_t *cookie)
{
	socklen_t length = sizeof(*cookie);

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &length) ? -errno : 0;
}

static bool is_running(const struct mpdpa_send *send)
{
	return send->progress.state == MPDPA_SEND_RUNNING;
}

static bool may_drop(const struct mpdpa_send *send)
{
	return (send->flags & MPTCP_DPA_CHUNK_LATE_MASK) == MPTCP_DPA_CHUNK_F_TELL;
}

static int set_lowat(struct mpdpa_send *send, int bytes)
{
	if (bytes == send->lowat_now)
		return 0;
	if (setsockopt(send->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes)))
		return -errno;
	send->lowat_now = bytes;
	return 0;
}

/* Has the epoll instance wake up for what can happen to a message. */
static int watch(struct mpdpa_send *send)
{
	struct epoll_event event = { .events = EPOLLOUT };
	struct itimerspec when = { 0 };

	if (epoll_ctl(send->epoll, EPOLL_CTL_ADD, send->fd, &event))
		return -errno;
	if (may_drop(send)) {
		when.it_value.tv_sec = send->progress.deadline_ns / MPDPA_SECOND;
		when.it_value.tv_nsec = send->progress.deadline_ns % MPDPA_SECOND;
	}
	timerfd_settime(send->timer, TFD_TIMER_ABSTIME, &when, NULL);
	return 0;
}

/* The socket goes altogether: no mask keeps a hangup from being told. */
static void unwatch(struct mpdpa_send *send)
{
	const struct itimerspec never = { 0 };

	epoll_ctl(send->epoll, EPOLL_CTL_DEL, send->fd, NULL);
	timerfd_settime(send->timer, 0, &never, NULL);
	set_lowat(send, send->lowat);
}

static int open_files(struct mpdpa_send *send)
{
	struct epoll_event event = { .events = EPOLLIN };
	socklen_t length = sizeof(send->lowat);
	int err = socket_cookie(send->fd, &send->cookie);

	if (err)
		return err;
	if (getsockopt(send->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &send->lowat, &length))
		return -errno;
	send->lowat_now = send->lowat;
	send->epoll = epoll_create1(EPOLL_CLOEXEC);
	send->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (send->epoll < 0 || send->timer < 0)
		return -errno;
	return epoll_ctl(send->epoll, EPOLL_CTL_ADD, send->timer, &event) ? -errno : 0;
}

static void close_files(struct mpdpa_send *send)
{
	if (send->epoll >= 0)
		close(send->epoll);
	if (send->timer >= 0)
		close(send->timer);
}

int mpdpa_send_open(struct mpdpa_send **send, int fd)
{
	struct mpdpa_send *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->epoll = -1;
	new->timer = -1;
	err = open_files(new);
	if (err) {
		close_files(new);
		free(new);
		return err;
	}
	*send = new;
	return 0;
}

void mpdpa_send_close(struct mpdpa_send *send)
{
	uint64_t cookie;

	if (!send)
		return;
	/* If the socket is gone, its number may be another's by now. */
	if (send->armed_ns && !socket_cookie(send->fd, &cookie) && cookie == send->cookie) {
		mpdpa_stream_stop(send->fd);
		set_lowat(send, send->lowat);
	}
	close_files(send);
	free(send);
}

/* Tells the kernel of the message. Its deadline counts from the first byte. */
static int arm(struct mpdpa_send *send)
{
	uint64_t now = now_ns(), deadline = send->progress.deadline_ns;
	struct mptcp_dpa_stream stream = {
		.interval_ns = INTERVAL_NS,
		.deadline_ns = deadline > now ? deadline - now : 1,
		.expected_bytes = send->progress.length,
		.flags = send->flags & MPTCP_DPA_CHUNK_LATE_MASK,
	};
	int err = mpdpa_stream_set(send->fd, &stream, sizeof(stream));

	if (!err)
		send->armed_ns = now;
	return err;
}

/* Nothing more is written: the interval ends, so that its chunk can be judged. */
static void finish(struct mpdpa_send *send, enum mpdpa_send_state state)
{
	struct mptcp_dpa_stream next = {
		.interval_ns = INTERVAL_NS,
		.deadline_ns = INTERVAL_NS,
	};

	send->progress.state = state;
	if (state == MPDPA_SEND_DROPPED)
		send->progress.dropped = send->progress.length - send->progress.written;
	/* If the connection has failed this does too, and nothing is lost by it. */
	mpdpa_stream_set(send->fd, &next, sizeof(next));
	unwatch(send);
}

/* Whether the message is late and its late policy is to drop; drops it if so. */
static bool drop_if_late(struct mpdpa_send *send)
{
	if (!is_running(send) || !may_drop(send) || now_ns() < send->progress.deadline_ns)
		return false;
	finish(send, MPDPA_SEND_DROPPED);
	return true;
}

static int check_message(uint64_t length, uint64_t deadline_ns, uint64_t now, uint32_t flags)
{
	if (flags & ~(MPTCP_DPA_CHUNK_F_ABS | MPTCP_DPA_CHUNK_LATE_MASK))
		return -EINVAL;
	if (!length)
		return -ENODATA;
	if (length > LENGTH_MAX)
		return -EFBIG;
	if (deadline_ns <= now)
		return -ETIME;
	return deadline_ns - now > INTERVAL_NS ? -ERANGE : 0;
}

int mpdpa_send_begin(struct mpdpa_send *send, uint64_t length, uint64_t deadline_ns,
		     uint32_t flags)
{
	uint64_t now = now_ns();
	struct mpdpa_progress last;
	int err;

	if (is_running(send))
		finish(send, MPDPA_SEND_DROPPED);
	if (!(flags & MPTCP_DPA_CHUNK_F_ABS)) {
		if (deadline_ns > INTERVAL_NS)
			return -ERANGE;
		deadline_ns += now;
	}
	err = check_message(length, deadline_ns, now, flags);
	if (err)
		return err;
	send->flags = flags;
	last = send->progress;
	send->progress = (struct mpdpa_progress){ .length = length, .deadline_ns = deadline_ns };
	err = set_lowat(send, may_drop(send) ? HELD_BACK_BYTES : send->lowat);
	if (!err)
		err = watch(send);
	if (!err)
		err = arm(send);
	if (err) {
		unwatch(send);
		send->progress = last;
		return err;
	}
	send->progress.state = MPDPA_SEND_RUNNING;
	return 0;
}

/* Before the first byte of a message. */
static int start(struct mpdpa_send *send)
{
	if (send->progress.written || now_ns() - send->armed_ns < LATE_START_NS)
		return 0;
	return arm(send);
}

static ssize_t send_some(int fd, const void *data, size_t length)
{
	ssize_t n;

	do
		n = send(fd, data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int64_t mpdpa_send_feed(struct mpdpa_send *send, const void *data, size_t length)
{
	struct mpdpa_progress *progress = &send->progress;
	ssize_t n;
	int err;

	if (progress->state == MPDPA_SEND_DROPPED || drop_if_late(send))
		return -ETIME;
	if (!is_running(send) || !length)
		return -EINVAL;
	if (length > progress->length - progress->written)
		return -EMSGSIZE;
	err = start(send);
	if (err)
		return err;
	n = send_some(send->fd, data, length);
	if (n < 0)
		return n;
	progress->written += n;
	if (progress->written == progress->length)
		finish(send, MPDPA_SEND_WRITTEN);
	return n;
}

int mpdpa_send_fd(const struct mpdpa_send *send)
{
	return send->epoll;
}

int mpdpa_send_progress(struct mpdpa_send *send, struct mpdpa_progress *progress, size_t size)
{
	struct mpdpa_progress all;
	int unacked;

	drop_if_late(send);
	all = send->progress;
	if (all.written) {
		/* The message's are the last bytes that were written. */
		if (ioctl(send->fd, SIOCOUTQ, &unacked))
			return -errno;
		all.acked = (uint64_t)unacked < all.written ? all.written - unacked : 0;
	}
	copy_out(progress, size, &all, sizeof(all));
	return 0;
}
