// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Intervals that make the chunks of a sender that marks none. */
#include <errno.h>
#include <limits.h>

#include "mpdpa.h"
#include "socket.h"

int mpdpa_stream_set(int fd, const struct mptcp_dpa_stream *stream, size_t size)
{
	if (size > INT_MAX)
		return -E2BIG;
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_STREAM, stream, size))
		return -errno;
	return 0;
}

int mpdpa_stream_start(int fd, uint64_t interval_ns, uint64_t deadline_ns)
{
	struct mptcp_dpa_stream stream = {
		.interval_ns = interval_ns,
		.deadline_ns = deadline_ns,
	};

	/* An interval of 0 would mean the opposite. */
	if (!interval_ns)
		return -ERANGE;
	return mpdpa_stream_set(fd, &stream, sizeof(stream));
}

int mpdpa_stream_stop(int fd)
{
	struct mptcp_dpa_stream stream = { 0 };

	return mpdpa_stream_set(fd, &stream, sizeof(stream));
}
