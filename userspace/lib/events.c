// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Events of one socket: an eventfd says when, the info says what. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>

#include "attr.h"
#include "mpdpa.h"
#include "socket.h"

struct mpdpa_events {
	int fd;			/* the socket, not ours to close */
	int eventfd;
	uint64_t met;		/* at the last look */
	uint64_t missed;
};

int mpdpa_eventfd_set(int fd, int eventfd)
{
	if (setsockopt(fd, SOL_MPTCP, MPTCP_DPA_EVENTFD, &eventfd, sizeof(eventfd)))
		return -errno;
	return 0;
}

/* What happened before the handle was there is none of its events. */
static int start(struct mpdpa_events *events)
{
	struct mptcp_dpa_info info;
	int err;

	err = mpdpa_eventfd_set(events->fd, events->eventfd);
	if (err)
		return err;
	err = mpdpa_info_get(events->fd, &info, sizeof(info));
	if (err)
		return err;
	events->met = info.chunks_met;
	events->missed = info.chunks_missed;
	return 0;
}

int mpdpa_events_open(struct mpdpa_events **events, int fd)
{
	struct mpdpa_events *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = new->eventfd < 0 ? -errno : start(new);
	if (err) {
		if (new->eventfd >= 0)
			close(new->eventfd);
		free(new);
		return err;
	}
	*events = new;
	return 0;
}

/*
 * The socket may tell another eventfd by now, that of a later handle or the
 * caller's own, and nothing says which: so its is not taken away here. One that
 * nobody has open any more costs the kernel a few bytes until the socket is gone.
 */
void mpdpa_events_close(struct mpdpa_events *events)
{
	if (!events)
		return;
	close(events->eventfd);
	free(events);
}

int mpdpa_events_fd(const struct mpdpa_events *events)
{
	return events->eventfd;
}

int mpdpa_events_read(struct mpdpa_events *events, struct mpdpa_verdicts *verdicts, size_t size)
{
	struct mpdpa_verdicts all = { 0 };
	struct mptcp_dpa_info info;
	uint64_t count;
	int err;

	/* Before the look: what comes after it makes the eventfd readable again. */
	if (read(events->eventfd, &count, sizeof(count)) < 0)
		return -errno;
	err = mpdpa_info_get(events->fd, &info, sizeof(info));
	if (err)
		return err;
	all.met = info.chunks_met - events->met;
	all.missed = info.chunks_missed - events->missed;
	all.at_risk = !!(info.flags & MPTCP_DPA_INFO_F_RISK);
	all.chunks_queued = info.chunks_queued;
	events->met = info.chunks_met;
	events->missed = info.chunks_missed;
	/* Told already: it happened between the last read and the last look. */
	if (!all.met && !all.missed && !all.at_risk)
		return -EAGAIN;
	copy_out(verdicts, size, &all, sizeof(all));
	return 0;
}
