/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libmpdpa: deadlines and path costs of Multipath TCP connections.
 *
 * A function that can fail returns 0 or more, or a negative errno value. Nothing
 * is printed and nothing is kept between calls, so calls on different sockets
 * and different handles may run in different threads at once. Only a handle
 * (struct mpdpa_ctl, _send, _events, _monitor) must not be used by two threads
 * at the same time.
 *
 * Times are nanoseconds, lengths are bytes. An absolute time is one of
 * CLOCK_MONOTONIC.
 *
 * A structure that goes with a size may grow at its end. The caller tells the size
 * that it was built with and gets no more; what the library or the kernel does not
 * know is zero. One that goes without, as struct mpdpa_path, and those that are
 * members of others stay as they are for as long as the library is libmpdpa.so.0.
 */
#ifndef MPDPA_H
#define MPDPA_H

#include <stddef.h>
#include <stdint.h>
#include <linux/mptcp_dpa_sock.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPDPA_SECOND	1000000000ULL

/**
 * mpdpa_socket() - open a Multipath TCP stream socket
 * @family: AF_INET or AF_INET6
 *
 * The socket is blocking and is closed on exec. Its scheduler is the one that
 * net.mptcp.scheduler names in this network namespace at this moment.
 *
 * Return: a file descriptor, or
 * -EPROTONOSUPPORT: the kernel was built without MPTCP;
 * -ENOPROTOOPT: net.mptcp.enabled is 0;
 * -EAFNOSUPPORT: another @family; or any other error of socket(2).
 */
int mpdpa_socket(int family);

/**
 * mpdpa_chunk_set() - say when the next bytes of a stream are due
 * @fd: a Multipath TCP socket, connected or not
 * @chunk: length, deadline and the rest, see <linux/mptcp_dpa_sock.h>
 * @size: sizeof(*chunk)
 *
 * The chunk begins where the chunk before it ends, or at the next byte that is
 * written if none waits. It does not send anything.
 *
 * Return: 0, or
 * -EINVAL: @size below 32, an unknown flag, or alpha out of its range;
 * -E2BIG: fields set that this kernel's module does not know;
 * -ENODATA: a length of 0;
 * -EFBIG: a length above 2^62, or a stream that would grow past its end;
 * -ETIME: a deadline that is already past, a relative one of 0 among them;
 * -EOVERFLOW: a deadline later than 2^63 - 1 ns on CLOCK_MONOTONIC;
 * -EPROTONOSUPPORT: the connection fell back to TCP;
 * -EPIPE: the socket was shut down for writing;
 * -ENOTCONN: the connection has ended, or the socket listens;
 * -EBUSY: intervals make the chunks of this connection, mpdpa_stream_set();
 * -ENOBUFS: as many chunks wait as net.mptcp_dpa.chunks_max allows;
 * -ENOMEM: no memory;
 * -EOPNOTSUPP, -ENOPROTOOPT: not available on this socket, mpdpa_probe() tells
 * why.
 */
int mpdpa_chunk_set(int fd, const struct mptcp_dpa_chunk *chunk, size_t size);

/**
 * mpdpa_chunk_in() - the next bytes are due a time from now
 * @fd: a Multipath TCP socket
 * @length: bytes, 1 .. 2^62
 * @nanoseconds: from now, 1 or more
 *
 * Return: as mpdpa_chunk_set()
 */
int mpdpa_chunk_in(int fd, uint64_t length, uint64_t nanoseconds);

/**
 * mpdpa_chunk_by() - the next bytes are due at a point in time
 * @fd: a Multipath TCP socket
 * @length: bytes, 1 .. 2^62
 * @monotonic_ns: when, on CLOCK_MONOTONIC
 *
 * Return: as mpdpa_chunk_set()
 */
int mpdpa_chunk_by(int fd, uint64_t length, uint64_t monotonic_ns);

/**
 * mpdpa_chunk_send() - set a chunk and write all of it
 * @fd: a connected Multipath TCP socket
 * @data: the bytes
 * @length: how many, 1 or more
 * @deadline_ns: from now, or with %MPTCP_DPA_CHUNK_F_ABS in @flags absolute
 * @flags: MPTCP_DPA_CHUNK_F_*
 * @sent: where to put the number of bytes that the kernel took; may be NULL
 *
 * Returns when the kernel has taken the last byte, which is before the peer has
 * it. On a non-blocking socket it waits for room. No SIGPIPE is raised.
 *
 * After an error @sent tells how far it came. After -EINTR or -EAGAIN, and where
 * it is above 0, the chunk stays in force: send the rest by send(2), not by a
 * chunk of its own. Otherwise the chunk itself was refused, or the connection is
 * over.
 *
 * Return: 0; an error of mpdpa_chunk_set(); -EINTR: a signal handler ran;
 * -EAGAIN: SO_SNDTIMEO ran out; or any other error of send(2).
 */
int mpdpa_chunk_send(int fd, const void *data, size_t length, uint64_t deadline_ns,
		     uint32_t flags, size_t *sent);

/**
 * mpdpa_stream_set() - have whatever is written in an interval be a chunk
 * @fd: a Multipath TCP socket, connected or not
 * @stream: the interval, when its bytes are due and the rest, see
 *	<linux/mptcp_dpa_sock.h>
 * @size: sizeof(*stream)
 *
 * The first interval begins with the first byte that is written from now on. A
 * stream that runs already is replaced; the chunk of its interval ends here.
 *
 * Return: 0, or
 * -EINVAL: @size below 32, an unknown flag, alpha out of its range, or an
 * interval of 0 with a deadline or expected bytes;
 * -E2BIG: fields set that this kernel's module does not know;
 * -ERANGE: an interval below 1 ms or above 1 h;
 * -ETIME: a deadline of 0;
 * -EOVERFLOW: a deadline above 2^62;
 * -EFBIG: more than 2^62 expected bytes;
 * -EBUSY: no stream runs and chunks wait: set by themselves, or left by a stream
 * that was stopped;
 * -EPROTONOSUPPORT, -EPIPE, -ENOTCONN, -ENOMEM, -EOPNOTSUPP, -ENOPROTOOPT: as
 * mpdpa_chunk_set().
 */
int mpdpa_stream_set(int fd, const struct mptcp_dpa_stream *stream, size_t size);

/**
 * mpdpa_stream_start() - what is written in an interval is due a time after it
 * @fd: a Multipath TCP socket
 * @interval_ns: length of an interval, 1 ms .. 1 h
 * @deadline_ns: from the beginning of an interval until its bytes are due
 *
 * Return: as mpdpa_stream_set()
 */
int mpdpa_stream_start(int fd, uint64_t interval_ns, uint64_t deadline_ns);

/**
 * mpdpa_stream_stop() - no more intervals
 * @fd: a Multipath TCP socket
 *
 * Chunks that were begun stay until the peer has acknowledged them.
 *
 * Return: as mpdpa_stream_set()
 */
int mpdpa_stream_stop(int fd);

/* Sends messages with deadlines over one socket without ever waiting. */
struct mpdpa_send;

/* What has become of a message. */
enum mpdpa_send_state {
	MPDPA_SEND_IDLE = 0,	/* none was begun yet */
	MPDPA_SEND_RUNNING,	/* bytes are still to be fed */
	MPDPA_SEND_WRITTEN,	/* the kernel has taken all of it */
	MPDPA_SEND_DROPPED,	/* it was late, the rest was given up */
};

/**
 * struct mpdpa_progress - how far a message has come
 * @length: bytes, as mpdpa_send_begin() was told
 * @written: of them, taken by the kernel
 * @acked: of them, acknowledged by the peer
 * @dropped: bytes that will not be written
 * @deadline_ns: on CLOCK_MONOTONIC
 * @state: enum mpdpa_send_state
 * @reserved: 0
 */
struct mpdpa_progress {
	uint64_t length;
	uint64_t written;
	uint64_t acked;
	uint64_t dropped;
	uint64_t deadline_ns;
	uint32_t state;
	uint32_t reserved;
};

/**
 * mpdpa_send_open() - make a sender for a socket
 * @send: where to put the handle
 * @fd: a connected Multipath TCP socket, blocking or not
 *
 * The sender makes the chunks of the socket by mpdpa_stream_set(). As long as it
 * is open, nothing else must set chunks or streams there, nor write to it, not
 * even between messages: such bytes would be a chunk that is due in an hour. Bytes
 * without a deadline can be written once the sender is closed. It does not keep
 * the socket open.
 *
 * Return: 0; -EBADF: @fd is no file; -ENOTSOCK: no socket; -ENOMEM; or another
 * error of getsockopt(2), epoll_ctl(2) or timerfd_create(2).
 */
int mpdpa_send_open(struct mpdpa_send **send, int fd);

/**
 * mpdpa_send_close() - take a sender away
 * @send: the handle, or NULL
 *
 * What was written stays written and keeps its deadline. Close the sender before
 * its socket.
 */
void mpdpa_send_close(struct mpdpa_send *send);

/**
 * mpdpa_send_begin() - begin a message
 * @send: the handle
 * @length: its bytes, 1 .. 2^62
 * @deadline_ns: when the peer shall have them: from now, or with
 *	%MPTCP_DPA_CHUNK_F_ABS in @flags absolute; at most an hour from now
 * @flags: MPTCP_DPA_CHUNK_F_*. With %MPTCP_DPA_CHUNK_F_TELL what is not written
 *	by the deadline is dropped. So that as much as possible can be, the kernel takes no more than
 *	128 KB ahead of what it can send: the socket's TCP_NOTSENT_LOWAT is lowered
 *	while such a message runs.
 *
 * A message that still runs is given up: what was not written of it is dropped.
 *
 * Return: 0; -ENODATA: a length of 0; -EFBIG: a length above 2^62; -ETIME: the
 * deadline has passed; -ERANGE: it is more than an hour away; or an error of
 * mpdpa_stream_set() or epoll_ctl(2). After an error no message runs, and
 * mpdpa_send_progress() tells of the one before.
 */
int mpdpa_send_begin(struct mpdpa_send *send, uint64_t length, uint64_t deadline_ns,
		     uint32_t flags);

/**
 * mpdpa_send_feed() - write what there is room for
 * @send: the handle
 * @data: the next bytes of the message
 * @length: how many; no more than are left of it
 *
 * Return: how many of them were taken, 1 or more; or
 * -EAGAIN: no room now, poll the fd of mpdpa_send_fd();
 * -ETIME: the deadline has passed and the rest was dropped, see
 * mpdpa_send_progress();
 * -EMSGSIZE: more than are left of the message;
 * -EINVAL: a length of 0, or no message runs;
 * or an error of send(2), -EPIPE without SIGPIPE.
 */
int64_t mpdpa_send_feed(struct mpdpa_send *send, const void *data, size_t length);

/**
 * mpdpa_send_fd() - a file descriptor to poll
 * @send: the handle
 *
 * It is readable while a message runs and mpdpa_send_feed() would return
 * something else than -EAGAIN: when there is room, when the deadline has passed
 * and the rest is to be dropped, or when the connection has failed. While no
 * message runs it is never readable. For poll(2) and the like alone; do not read
 * from it.
 *
 * Return: the file descriptor, which stays the handle's own.
 */
int mpdpa_send_fd(const struct mpdpa_send *send);

/**
 * mpdpa_send_progress() - how far the message has come
 * @send: the handle
 * @progress: where to put it
 * @size: sizeof(*progress)
 *
 * Return: 0, or an error of ioctl(2) with SIOCOUTQ.
 */
int mpdpa_send_progress(struct mpdpa_send *send, struct mpdpa_progress *progress, size_t size);

/**
 * mpdpa_eventfd_set() - have an eventfd told when something happens
 * @fd: a Multipath TCP socket
 * @eventfd: from eventfd(2), or -1 for none
 *
 * One is added to it when a chunk was met, missed or seems too slow for all
 * paths together. mpdpa_events_open() does that and tells them apart.
 *
 * Return: 0; -EBADF: @eventfd is no file; -EINVAL: it is no eventfd; -ENOMEM;
 * -EOPNOTSUPP, -ENOPROTOOPT: as mpdpa_chunk_set().
 */
int mpdpa_eventfd_set(int fd, int eventfd);

/* What happens to the chunks of one socket. Needs no privilege. */
struct mpdpa_events;

/**
 * struct mpdpa_verdicts - what has happened since the last look
 * @met: chunks that were there in time
 * @missed: chunks that were not
 * @at_risk: 1 if all paths together seem too slow for the chunk in force now
 * @chunks_queued: chunks that are not over yet
 */
struct mpdpa_verdicts {
	uint64_t met;
	uint64_t missed;
	uint32_t at_risk;
	uint32_t chunks_queued;
};

/**
 * mpdpa_events_open() - have events of a socket
 * @events: where to put the handle
 * @fd: a Multipath TCP socket
 *
 * A socket tells one handle at a time: the last one opened, and no eventfd that
 * was set by mpdpa_eventfd_set() before. Of two handles, mpdpa_events_fd() of the
 * older one is not readable any more.
 *
 * Return: 0; -ENOMEM; an error of eventfd(2), mpdpa_eventfd_set() or
 * mpdpa_info_get().
 */
int mpdpa_events_open(struct mpdpa_events **events, int fd);

/**
 * mpdpa_events_close() - have no more events
 * @events: the handle, or NULL
 *
 * A handle that was opened later, or an eventfd that was set later, goes on to be
 * told. Before or after its socket is closed makes no difference.
 */
void mpdpa_events_close(struct mpdpa_events *events);

/**
 * mpdpa_events_fd() - a file descriptor to poll
 * @events: the handle
 *
 * Return: the file descriptor, which stays the handle's own; it is readable when
 * mpdpa_events_read() has something to tell.
 */
int mpdpa_events_fd(const struct mpdpa_events *events);

/**
 * mpdpa_events_read() - what has happened since the last call
 * @events: the handle
 * @verdicts: where to put it
 * @size: sizeof(*verdicts)
 *
 * Does not wait.
 *
 * Return: 0; -EAGAIN: nothing new; or an error of mpdpa_info_get().
 */
int mpdpa_events_read(struct mpdpa_events *events, struct mpdpa_verdicts *verdicts, size_t size);

/**
 * mpdpa_info_get() - read what the scheduler knows of a connection
 * @fd: a Multipath TCP socket
 * @info: where to put it; what the kernel does not fill is zero
 * @size: sizeof(*info), or more to make room for more rows; 16 or more
 *
 * Works before the first chunk; all but the sizes and now_ns is zero then.
 *
 * Return: 0, or
 * -EINVAL: @size below 16;
 * -EOPNOTSUPP, -ENOPROTOOPT: not available on this socket, mpdpa_probe() tells
 * why.
 */
int mpdpa_info_get(int fd, struct mptcp_dpa_info *info, size_t size);

/**
 * mpdpa_info_path() - take one subflow's row out of the info
 * @info: as mpdpa_info_get() filled it
 * @size: as given to mpdpa_info_get()
 * @index: 0 .. @info->paths - 1
 * @path: where to put the row; fields that the kernel does not know are zero
 * @path_size: sizeof(*path)
 *
 * Rows of a newer or an older kernel may be longer or shorter than the row this
 * program was built with; this function steps through them correctly.
 *
 * Return: 0, or -ENOENT: no such row, or it did not fit into @size.
 */
int mpdpa_info_path(const struct mptcp_dpa_info *info, size_t size, unsigned int index,
		    struct mptcp_dpa_path_info *path, size_t path_size);

/**
 * enum mpdpa_state - whether deadlines work, and if not, the first reason
 *
 * Later versions may add values; mpdpa_state_text() knows those of the library
 * in use.
 */
enum mpdpa_state {
	MPDPA_READY = 0,	/* deadlines work on this socket */
	MPDPA_NO_MPTCP,		/* kernel without MPTCP, or net.mptcp.enabled is 0 */
	MPDPA_PLAIN_TCP,	/* not a Multipath TCP socket */
	MPDPA_FELL_BACK,	/* the peer or the path does not do Multipath TCP */
	MPDPA_NO_MODULE,	/* mptcp_dpa.ko is not loaded */
	MPDPA_NOT_ATTACHED,	/* the scheduler is not attached */
	MPDPA_NOT_SELECTED,	/* net.mptcp.scheduler names another scheduler */
	MPDPA_NO_SOCKOPT,	/* the socket-option programs are not attached */
	MPDPA_OTHER_SCHEDULER,	/* made while another was selected */
};

/**
 * mpdpa_probe() - tell whether deadlines work, and if not, why
 * @fd: a stream socket, or -1 for a Multipath TCP socket made now
 *
 * Needs no privilege. What it says of the scheduler's selection and of the
 * socket-option programs holds for the caller's network namespace and cgroup;
 * use it where the socket was made. It sends nothing and leaves the socket as
 * it was.
 *
 * Return: an enum mpdpa_state, or
 * -EBADF, -ENOTSOCK: @fd is no socket; or another error of getsockopt(2) or
 * socket(2).
 */
int mpdpa_probe(int fd);

/**
 * mpdpa_state_text() - a state as half a sentence
 * @state: from mpdpa_probe()
 *
 * Return: a static string, never NULL; "unknown" for other values.
 */
const char *mpdpa_state_text(int state);

/**
 * mpdpa_state_mend() - the command that mends a state
 * @state: from mpdpa_probe()
 *
 * Return: a static string, or NULL if no command does.
 */
const char *mpdpa_state_mend(int state);

/**
 * struct mpdpa_path - a path and what a byte costs on it
 * @endpoint_id: number of an MPTCP endpoint, 1 .. 255, or 0
 * @ifindex: index of a network interface, or 0
 * @family: AF_INET or AF_INET6 if @addr names the path, else 0
 * @cost: 1 .. %MPTCP_DPA_COST_MAX; only its order and ratio to others matter
 * @addr: local address of the subflow, in network order; zeros behind one of
 *	AF_INET
 *
 * A path is named by exactly one of @endpoint_id, @ifindex and @family with
 * @addr.
 */
struct mpdpa_path {
	uint32_t endpoint_id;
	uint32_t ifindex;
	uint32_t family;
	uint32_t cost;
	uint8_t addr[16];
};

/**
 * mpdpa_pref_set() - what a path costs for one connection
 * @fd: a Multipath TCP socket
 * @path: the path and its cost: as that of a namespace, or
 *	%MPTCP_DPA_COST_FORBIDDEN to keep deadlines off it, or 0 to take the
 *	preference away
 *
 * Without CAP_NET_ADMIN in the network namespace a preference can make a path
 * dearer, not cheaper.
 *
 * Return: 0, or
 * -EINVAL: not exactly one name, or the address has bytes behind its end;
 * -ERANGE: a number out of its range;
 * -ENOENT: there is no preference to take away;
 * -ENOSPC: the connection has %MPTCP_DPA_PREFS_MAX already;
 * -EPERM: less than the path costs in the namespace;
 * -ENOMEM, -EOPNOTSUPP, -ENOPROTOOPT: as mpdpa_chunk_set().
 */
int mpdpa_pref_set(int fd, const struct mpdpa_path *path);

/**
 * mpdpa_pref_get() - read a connection's preferences
 * @fd: a Multipath TCP socket
 * @prefs: where to put them
 * @count: how many there is room for, 1 or more; %MPTCP_DPA_PREFS_MAX is enough
 *
 * Return: how many were put there; -EINVAL: no room; -EOPNOTSUPP, -ENOPROTOOPT:
 * as mpdpa_chunk_set().
 */
int mpdpa_pref_get(int fd, struct mpdpa_path *prefs, size_t count);

/* A connection to the module's netlink family, in one network namespace. */
struct mpdpa_ctl;

/**
 * mpdpa_ctl_open() - connect to the module
 * @ctl: where to put the handle
 *
 * The handle stays with the network namespace that the caller is in now.
 *
 * Return: 0; -ENOENT: the module is not loaded; -ENOMEM; or an error of
 * socket(2).
 */
int mpdpa_ctl_open(struct mpdpa_ctl **ctl);

/**
 * mpdpa_ctl_close() - close a handle
 * @ctl: the handle, or NULL
 */
void mpdpa_ctl_close(struct mpdpa_ctl *ctl);

/**
 * mpdpa_ctl_message() - the kernel's own words about the last error
 * @ctl: the handle
 *
 * Return: a string that lives until the next call with @ctl; empty if the kernel
 * said nothing.
 */
const char *mpdpa_ctl_message(const struct mpdpa_ctl *ctl);

/**
 * mpdpa_path_set() - give a path a cost, or change it
 * @ctl: the handle
 * @path: the path and its cost
 *
 * Needs CAP_NET_ADMIN in the user namespace of the network namespace.
 *
 * Return: 0; -EINVAL: not exactly one name, or the address has bytes behind its
 * end; -ERANGE: a number out of its range; -EPERM; -ENOSPC: no more costs can be
 * set; or another answer of the kernel.
 */
int mpdpa_path_set(struct mpdpa_ctl *ctl, const struct mpdpa_path *path);

/**
 * mpdpa_path_del() - take a path's cost away
 * @ctl: the handle
 * @path: the path; the cost is not looked at
 *
 * Return: as mpdpa_path_set(), and -ENOENT: the path had no cost.
 */
int mpdpa_path_del(struct mpdpa_ctl *ctl, const struct mpdpa_path *path);

/**
 * mpdpa_path_get() - read a path's cost
 * @ctl: the handle
 * @path: names the path, gets its cost
 *
 * Return: as mpdpa_path_del(), but needs no privilege.
 */
int mpdpa_path_get(struct mpdpa_ctl *ctl, struct mpdpa_path *path);

/* mpdpa_limits::what, and ::flags */
#define MPDPA_LIMIT_QUOTA	(1U << 0)
#define MPDPA_LIMIT_CHEAP_RATE	(1U << 1)
#define MPDPA_QUOTA_SOFT	(1U << 0)	/* when spent that is told, no more */

/**
 * struct mpdpa_limits - what a path may carry, for all connections together
 * @quota_bytes: that deadlines and overflow may put on it in a period; 0: any
 * @quota_period_ns: 1 s to a year
 * @quota_spent: in this period; not looked at when it is set
 * @cheap_rate: bytes a second that it counts for at most; 0: any
 * @what: which to set, MPDPA_LIMIT_*
 * @flags: MPDPA_QUOTA_*
 */
struct mpdpa_limits {
	uint64_t quota_bytes;
	uint64_t quota_period_ns;
	uint64_t quota_spent;
	uint64_t cheap_rate;
	uint32_t what;
	uint32_t flags;
};

/**
 * mpdpa_path_limit() - give a path a cost and limits, or change them
 * @ctl: the handle
 * @path: the path and its cost
 * @limits: those that @limits->what does not name stay as they are
 * @size: sizeof(*limits)
 *
 * Return: as mpdpa_path_set(); -EINVAL also for an unknown flag, or a quota
 * without a period; -ERANGE also for a period out of its range; -E2BIG: fields
 * set that this library does not know.
 */
int mpdpa_path_limit(struct mpdpa_ctl *ctl, const struct mpdpa_path *path,
		     const struct mpdpa_limits *limits, size_t size);

/**
 * mpdpa_path_limits() - read a path's limits
 * @ctl: the handle
 * @path: the path; its cost is set
 * @limits: set, @limits->what to those that there are
 * @size: sizeof(*limits)
 *
 * Return: as mpdpa_path_get().
 */
int mpdpa_path_limits(struct mpdpa_ctl *ctl, struct mpdpa_path *path,
		      struct mpdpa_limits *limits, size_t size);

/**
 * mpdpa_path_list() - read all costs that were set
 * @ctl: the handle
 * @visit: called for each path; a value other than 0 ends the list. It must not
 *	use @ctl.
 * @data: handed to @visit
 *
 * Return: 0; what @visit returned; -EINTR: costs were changed meanwhile and one
 * may be missing or come twice, start again; or another answer of the kernel.
 */
int mpdpa_path_list(struct mpdpa_ctl *ctl,
		    int (*visit)(const struct mpdpa_path *path, void *data), void *data);

/**
 * struct mpdpa_conn_chunk - the chunk in force of a connection
 * @length: bytes
 * @deadline_ns: on CLOCK_MONOTONIC
 * @cookie: the application's own mark
 * @sent: bytes of it that were given to a subflow
 * @acked: bytes of it that the peer acknowledged
 * @forecast: bytes that the paths in use will carry until the deadline
 * @alpha_milli: in force for it; 0: it adapts
 * @flags: MPTCP_DPA_CHUNK_F_SPEND, _CHEAP or _TELL if it has its own late policy
 * @at_risk: 1 if even all paths together seem too slow
 * @reserved: 0
 */
struct mpdpa_conn_chunk {
	uint64_t length;
	uint64_t deadline_ns;
	uint64_t cookie;
	uint64_t sent;
	uint64_t acked;
	uint64_t forecast;
	uint32_t alpha_milli;
	uint32_t flags;
	uint32_t at_risk;
	uint32_t reserved;
};

/**
 * struct mpdpa_conn - a connection that the module has a state of
 * @id: its number in the network namespace, never used again
 * @cookie: its socket's cookie, as in "ss -e"
 * @token: its MPTCP token, 0 before it is connected
 * @uid: owner of the socket
 * @alpha_milli: its own alpha, 0 if it takes the namespace's
 * @chunks_queued: chunks not yet over, that in force included
 * @chunks_met: chunks judged met
 * @chunks_missed: chunks judged missed
 * @decisions: decisions taken with a chunk in force, or overflow
 * @has_chunk: 1 if @chunk is valid
 * @paths: rows in @path
 * @prefs: rows in @pref
 * @overflow_ms: how long its bytes without a deadline may wait for cheaper
 *	paths, %MPTCP_DPA_OVERFLOW_OFF if not at all, 0 if it takes the namespace's
 * @chunk: the chunk in force
 * @path: its subflows
 * @pref: its own costs
 */
struct mpdpa_conn {
	uint64_t id;
	uint64_t cookie;
	uint32_t token;
	uint32_t uid;
	uint32_t alpha_milli;
	uint32_t chunks_queued;
	uint64_t chunks_met;
	uint64_t chunks_missed;
	uint64_t decisions;
	uint32_t has_chunk;
	uint32_t paths;
	uint32_t prefs;
	uint32_t overflow_ms;
	struct mpdpa_conn_chunk chunk;
	struct mptcp_dpa_path_info path[MPTCP_DPA_PATHS_MAX];
	struct mpdpa_path pref[MPTCP_DPA_PREFS_MAX];
};

/**
 * mpdpa_conn_get() - read one connection
 * @ctl: the handle
 * @conn: named by either its id or its token, gets the rest
 * @size: sizeof(*conn)
 *
 * Others' connections can be read with CAP_NET_ADMIN alone.
 *
 * Return: 0; -EINVAL: not exactly one name; -ENOENT: no such connection, or one
 * that the module has no state of; -EPERM; or another answer of the kernel.
 */
int mpdpa_conn_get(struct mpdpa_ctl *ctl, struct mpdpa_conn *conn, size_t size);

/**
 * mpdpa_conn_list() - read all connections that the module has a state of
 * @ctl: the handle
 * @visit: called for each; a value other than 0 ends the list. It must not use
 *	@ctl.
 * @data: handed to @visit
 *
 * Without CAP_NET_ADMIN, those of the caller's own user alone. Connections that
 * come and go meanwhile may or may not be among them; all others are, once.
 *
 * Return: 0; what @visit returned; or another answer of the kernel.
 */
int mpdpa_conn_list(struct mpdpa_ctl *ctl,
		    int (*visit)(const struct mpdpa_conn *conn, void *data), void *data);

/* mpdpa_conn_change::what */
#define MPDPA_CHANGE_ALPHA	(1U << 0)
#define MPDPA_CHANGE_CHUNK	(1U << 1)
#define MPDPA_CHANGE_OVERFLOW	(1U << 2)

/**
 * struct mpdpa_conn_change - what to change of a connection
 * @id: the connection's number, or 0
 * @token: its MPTCP token, or 0
 * @what: MPDPA_CHANGE_*
 * @alpha_milli: its alpha from now on, 0 to take the namespace's
 * @pref_count: rows in @prefs
 * @chunk: to be queued on its behalf
 * @prefs: paths and their costs, as for mpdpa_pref_set()
 * @overflow_ms: as in struct mpdpa_conn, up to %MPTCP_DPA_OVERFLOW_MAX
 * @reserved: 0
 */
struct mpdpa_conn_change {
	uint64_t id;
	uint32_t token;
	uint32_t what;
	uint32_t alpha_milli;
	uint32_t pref_count;
	struct mptcp_dpa_chunk chunk;
	const struct mpdpa_path *prefs;
	uint32_t overflow_ms;
	uint32_t reserved;
};

/**
 * mpdpa_conn_set() - change a connection on its owner's behalf
 * @ctl: the handle
 * @change: the connection and what to change
 * @size: sizeof(*change)
 *
 * All of it is done or nothing. Needs CAP_NET_ADMIN in the user namespace of the
 * network namespace. The connection need not have had deadlines, but its
 * scheduler must take them.
 *
 * Return: 0; -EINVAL: not exactly one name, or @what unknown; -E2BIG: fields set
 * that this library does not know; -ENOENT: no such connection; -EPERM; -ERANGE:
 * a number out of its range; an error of mpdpa_pref_set() or mpdpa_chunk_set().
 */
int mpdpa_conn_set(struct mpdpa_ctl *ctl, const struct mpdpa_conn_change *change, size_t size);

/**
 * struct mpdpa_stats - counters of a network namespace
 * @connections: that have state now
 * @decisions: that a scheduler of the module was asked for
 * @chunk_decisions: of them, with a chunk in force, or overflow
 * @guard_drops: picks of a scheduler that could not be used
 * @chunks_set: chunks that were queued, intervals not counted
 * @chunks_met: judged met
 * @chunks_missed: judged missed
 * @activations: times a held subflow was put in use
 * @prio_sent: MP_PRIO options asked for
 * @ticks: looks at a connection that no acknowledgement caused
 * @turns: chunks that waited for their turn on a path that many had filled
 *
 * All but @connections count from the loading of the module.
 */
struct mpdpa_stats {
	uint64_t connections;
	uint64_t decisions;
	uint64_t chunk_decisions;
	uint64_t guard_drops;
	uint64_t chunks_set;
	uint64_t chunks_met;
	uint64_t chunks_missed;
	uint64_t activations;
	uint64_t prio_sent;
	uint64_t ticks;
	uint64_t turns;
};

/**
 * mpdpa_stats_get() - read the counters
 * @ctl: the handle
 * @stats: where to put them
 * @size: sizeof(*stats)
 *
 * Return: 0, or an answer of the kernel.
 */
int mpdpa_stats_get(struct mpdpa_ctl *ctl, struct mpdpa_stats *stats, size_t size);

/* What happens to all connections of one network namespace. */
struct mpdpa_monitor;

/* Values are those of the netlink messages; later versions may add some. */
enum mpdpa_event_type {
	MPDPA_EVENT_CHUNK_MET = MPTCP_DPA_CMD_CHUNK_MET,
	MPDPA_EVENT_CHUNK_MISSED = MPTCP_DPA_CMD_CHUNK_MISSED,
	MPDPA_EVENT_CHUNK_AT_RISK = MPTCP_DPA_CMD_CHUNK_AT_RISK,
	MPDPA_EVENT_PATH_ACTIVATED = MPTCP_DPA_CMD_PATH_ACTIVATED,
	MPDPA_EVENT_PATH_RELEASED = MPTCP_DPA_CMD_PATH_RELEASED,
	MPDPA_EVENT_QUOTA_REACHED = MPTCP_DPA_CMD_QUOTA_REACHED,
};

/**
 * struct mpdpa_event - one event
 * @type: enum mpdpa_event_type
 * @token: of the connection
 * @id: number of the connection
 * @cookie: of its socket
 * @chunk_length: events of a chunk: its bytes
 * @chunk_deadline_ns: when it is or was due, on CLOCK_MONOTONIC
 * @chunk_cookie: the application's mark
 * @subflow: events of a path: the kernel's number of the subflow
 * @reserved: 0
 */
struct mpdpa_event {
	uint32_t type;
	uint32_t token;
	uint64_t id;
	uint64_t cookie;
	uint64_t chunk_length;
	uint64_t chunk_deadline_ns;
	uint64_t chunk_cookie;
	uint32_t subflow;
	uint32_t reserved;
};

/**
 * mpdpa_monitor_open() - listen to what happens in this network namespace
 * @monitor: where to put the handle
 *
 * Needs CAP_NET_ADMIN in the user namespace of the network namespace.
 *
 * Return: 0; -EPERM; -ENOENT: the module is not loaded; -ENOMEM; or an error of
 * socket(2).
 */
int mpdpa_monitor_open(struct mpdpa_monitor **monitor);

/**
 * mpdpa_monitor_close() - listen no more
 * @monitor: the handle, or NULL
 */
void mpdpa_monitor_close(struct mpdpa_monitor *monitor);

/**
 * mpdpa_monitor_fd() - a file descriptor to poll
 * @monitor: the handle
 *
 * It tells when the kernel has sent more. Events that came along with one that
 * was read wait in the handle: read until -EAGAIN before polling.
 *
 * Return: the file descriptor, which stays the handle's own.
 */
int mpdpa_monitor_fd(const struct mpdpa_monitor *monitor);

/**
 * mpdpa_monitor_read() - take the next event
 * @monitor: the handle
 * @event: where to put it
 * @size: sizeof(*event)
 *
 * Does not wait.
 *
 * Return: 0; -EAGAIN: none is there; -ENOBUFS: some were lost, because they came
 * faster than they were read, go on; -ENODEV: the module was unloaded, and if it
 * is loaded again only a new handle hears of it; or another error of recvfrom(2).
 */
int mpdpa_monitor_read(struct mpdpa_monitor *monitor, struct mpdpa_event *event, size_t size);

/**
 * mpdpa_event_name() - an event's name, as in the netlink specification
 * @type: of an event
 *
 * Return: a static string such as "chunk-met", never NULL; "unknown" for other
 * values.
 */
const char *mpdpa_event_name(uint32_t type);

#ifdef __cplusplus
}
#endif

#endif /* MPDPA_H */
