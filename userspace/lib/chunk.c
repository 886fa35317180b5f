// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Chunks: setting them, and writing a whole one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>

#include "mpdpa.h"
#include "socket.h"

int mpdpa_chunk_set(int fd, const struct mptcp_dpa_chunk *chunk, size_t size)
{
	if (size > INT_MAX)
		return -E2BIG;
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_CHUNK, chunk, size))
		return -errno;
	return 0;
}

int mpdpa_chunk_in(int fd, uint64_t length, uint64_t nanoseconds)
{
	struct mptcp_dpa_chunk chunk = {
		.length = length,
		.deadline_ns = nanoseconds,
	};

	return mpdpa_chunk_set(fd, &chunk, sizeof(chunk));
}

int mpdpa_chunk_by(int fd, uint64_t length, uint64_t monotonic_ns)
{
	struct mptcp_dpa_chunk chunk = {
		.length = length,
		.deadline_ns = monotonic_ns,
		.flags = MPTCP_DPA_CHUNK_F_ABS,
	};

	return mpdpa_chunk_set(fd, &chunk, sizeof(chunk));
}

/* Waits for room if the socket does not do so by itself. */
static int wait_for_room(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	/* A blocking socket says so only when its SO_SNDTIMEO ran out. */
	if (!(flags & O_NONBLOCK))
		return -EAGAIN;
	return poll(&wait, 1, -1) < 0 ? -errno : 0;
}

static int send_all(int fd, const char *data, size_t length, size_t *sent)
{
	while (*sent < length) {
		ssize_t n = send(fd, data + *sent, length - *sent, MSG_NOSIGNAL);
		int err;

		if (n >= 0) {
			*sent += n;
			continue;
		}
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		err = wait_for_room(fd);
		if (err)
			return err;
	}
	return 0;
}

int mpdpa_chunk_send(int fd, const void *data, size_t length, uint64_t deadline_ns,
		     uint32_t flags, size_t *sent)
{
	struct mptcp_dpa_chunk chunk = {
		.length = length,
		.deadline_ns = deadline_ns,
		.flags = flags,
	};
	size_t count = 0;
	int err;

	err = mpdpa_chunk_set(fd, &chunk, sizeof(chunk));
	if (!err)
		err = send_all(fd, data, length, &count);
	if (sent)
		*sent = count;
	return err;
}
