/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libmpdpa: deadlines and path costs of Multipath TCP connections.
 *
 * A function that can fail returns 0 or more, or a negative errno value. Nothing
 * is printed and nothing is kept between calls, so calls on different sockets
 * and different handles may run in different threads at once. Only a handle
 * (struct mpdpa_ctl) must not be used by two threads at the same time.
 *
 * Times are nanoseconds, lengths are bytes. An absolute time is one of
 * CLOCK_MONOTONIC.
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
 * -ENOBUFS: %MPTCP_DPA_CHUNKS_MAX chunks wait already;
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
 * After an error @sent tells how far it came. If the chunk itself was refused
 * that is 0 and nothing was written. Otherwise the chunk stays in force: send
 * the rest by send(2), not by a chunk of its own.
 *
 * Return: 0; an error of mpdpa_chunk_set(); -EINTR: a signal handler ran;
 * -EAGAIN: SO_SNDTIMEO ran out; or any other error of send(2).
 */
int mpdpa_chunk_send(int fd, const void *data, size_t length, uint64_t deadline_ns,
		     uint32_t flags, size_t *sent);

/**
 * mpdpa_info_get() - read what the scheduler knows of a connection
 * @fd: a Multipath TCP socket
 * @info: where to put it; what the kernel does not fill is zero
 * @size: sizeof(*info), or more to make room for more rows; 8 or more
 *
 * Works before the first chunk, everything is zero then.
 *
 * Return: 0, or
 * -EINVAL: @size below 8;
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

/* A connection to the module's netlink family, in one network namespace. */
struct mpdpa_ctl;

/**
 * struct mpdpa_path - what a byte costs on a path
 * @endpoint_id: number of an MPTCP endpoint, 1 .. 255, or 0
 * @ifindex: index of a network interface, or 0
 * @cost: 1 .. 1000000; only its order and ratio to others matter
 * @reserved: 0
 *
 * A path is named by exactly one of @endpoint_id and @ifindex.
 */
struct mpdpa_path {
	uint32_t endpoint_id;
	uint32_t ifindex;
	uint32_t cost;
	uint32_t reserved;
};

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
 * Return: 0; -EINVAL: not exactly one name, or reserved not 0; -ERANGE: a number
 * out of its range; -EPERM; or another answer of the kernel.
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

#ifdef __cplusplus
}
#endif

#endif /* MPDPA_H */
