/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mptcp_dpa: socket options of deadline- and price-aware Multipath TCP.
 *
 * All options are at level SOL_MPTCP, on a socket made with IPPROTO_MPTCP.
 * They need no privilege. The structures grow at their end: the kernel accepts
 * a longer one whose unknown tail is zero and writes no more than it was given
 * room for.
 */
#ifndef _UAPI_LINUX_MPTCP_DPA_SOCK_H
#define _UAPI_LINUX_MPTCP_DPA_SOCK_H

#include <linux/mptcp_dpa.h>
#include <linux/types.h>

#define MPTCP_DPA_CHUNK		0x4450	/* set: struct mptcp_dpa_chunk */
#define MPTCP_DPA_INFO		0x4451	/* get: struct mptcp_dpa_info */
#define MPTCP_DPA_STREAM	0x4452	/* set: struct mptcp_dpa_stream */
#define MPTCP_DPA_PREF		0x4453	/* set: struct mptcp_dpa_pref, get: of them */
#define MPTCP_DPA_EVENTFD	0x4454	/* set: int */

/* Chunks that may wait on one connection; one more gives ENOBUFS. */
#define MPTCP_DPA_CHUNKS_MAX	64

/*
 * Subflows of one connection that get an estimate and a row in the info, and data
 * while a chunk is in force. Where it has more these are the ones of most use:
 * the path manager of Linux 6.12 makes up to 9, that of 7.2 up to 65.
 */
#define MPTCP_DPA_PATHS_MAX	8

/* Paths that a connection may give a cost of its own; one more gives ENOSPC. */
#define MPTCP_DPA_PREFS_MAX	6

/* mptcp_dpa_chunk::flags and mptcp_dpa_stream::flags */
#define MPTCP_DPA_CHUNK_F_ABS	(1U << 0)	/* deadline_ns is absolute */
/* what to do when late; none of them: as net.mptcp_dpa.late_policy says */
#define MPTCP_DPA_CHUNK_F_SPEND	(1U << 1)	/* send the rest over all paths */
#define MPTCP_DPA_CHUNK_F_CHEAP	(2U << 1)	/* over the cheapest alone */
#define MPTCP_DPA_CHUNK_F_TELL	(3U << 1)	/* the same, the application drops */
#define MPTCP_DPA_CHUNK_LATE_MASK	(3U << 1)

/**
 * struct mptcp_dpa_chunk - the next bytes of the stream and when they are due
 * @length: bytes; the chunk begins where the previous one ends, or at the next
 *	byte to be written if none waits. 1 .. 2^62.
 * @deadline_ns: from now, or with %MPTCP_DPA_CHUNK_F_ABS on the CLOCK_MONOTONIC
 *	of the caller's time namespace; the time at which the peer shall have the
 *	last byte.
 * @cookie: returned in the info and in events, otherwise not looked at.
 * @alpha_milli: deadline sensitivity in thousandths, %MPTCP_DPA_ALPHA_MIN ..
 *	%MPTCP_DPA_ALPHA_MAX; 0 takes the connection's, else the network namespace's.
 * @flags: MPTCP_DPA_CHUNK_F_*
 */
struct mptcp_dpa_chunk {
	__u64	length;
	__u64	deadline_ns;
	__u64	cookie;
	__u32	alpha_milli;
	__u32	flags;
};

#define MPTCP_DPA_CHUNK_SIZE_V1	32

/**
 * struct mptcp_dpa_stream - deadlines for a sender that marks no chunks
 * @interval_ns: interval k begins @interval_ns * k after the first byte that is
 *	written from now on; what is written in it is its chunk. 1 ms .. 1 h, or
 *	0: no more intervals.
 * @deadline_ns: a chunk is due so long after its interval began. 1 .. 2^62.
 * @expected_bytes: what an interval is likely to bring, 0 if unknown; a
 *	forecast, not a limit.
 * @alpha_milli: as of a chunk
 * @flags: MPTCP_DPA_CHUNK_F_*, but not _ABS
 */
struct mptcp_dpa_stream {
	__u64	interval_ns;
	__u64	deadline_ns;
	__u64	expected_bytes;
	__u32	alpha_milli;
	__u32	flags;
};

#define MPTCP_DPA_STREAM_SIZE_V1	32

/* mptcp_dpa_pref::kind */
#define MPTCP_DPA_PREF_ENDPOINT	1	/* id: endpoint id */
#define MPTCP_DPA_PREF_IFINDEX	2	/* id: interface index */
#define MPTCP_DPA_PREF_ADDR4	3	/* addr[0..3]: local address */
#define MPTCP_DPA_PREF_ADDR6	4	/* addr: local address */

/**
 * struct mptcp_dpa_pref - what a path costs for this connection
 * @kind: MPTCP_DPA_PREF_*
 * @cost: 1 .. %MPTCP_DPA_COST_MAX, %MPTCP_DPA_COST_FORBIDDEN to keep deadlines
 *	off it, 0 to take the preference away. Less than the namespace's needs
 *	CAP_NET_ADMIN there.
 * @id: endpoint id or interface index, else 0
 * @reserved: 0
 * @addr: local address in network order, else 0
 */
struct mptcp_dpa_pref {
	__u32	kind;
	__u32	cost;
	__u32	id;
	__u32	reserved;
	__u8	addr[16];
};

#define MPTCP_DPA_PREF_SIZE_V1	32

/* mptcp_dpa_path_info::flags */
#define MPTCP_DPA_PATH_F_ACTIVE		(1U << 0) /* can carry data */
#define MPTCP_DPA_PATH_F_COSTLY		(1U << 1) /* dearer than the cheapest active one */
#define MPTCP_DPA_PATH_F_HELD		(1U << 2) /* kept back by the scheduler */
#define MPTCP_DPA_PATH_F_REQUEST_BKUP	(1U << 3) /* the peer was told: backup */
#define MPTCP_DPA_PATH_F_ESTIMATED	(1U << 4) /* goodput was measured */
#define MPTCP_DPA_PATH_F_FORBIDDEN	(1U << 5) /* by a preference */

/**
 * struct mptcp_dpa_path_info - one subflow
 * @subflow_id: the kernel's number of it within the connection, from 1
 * @local_id: address id at this end, 0 for the first subflow
 * @cost: per byte, by the connection's preferences and the namespace's path
 *	costs, or %MPTCP_DPA_COST_FORBIDDEN
 * @flags: MPTCP_DPA_PATH_F_*
 * @goodput: estimate in bytes a second, 0 while unknown
 * @bytes_sent: payload put on it, retransmissions included
 * @bytes_acked: payload the peer acknowledged on it
 * @activations: times it went from held to in use
 * @ifindex: interface that carries it, 0 if unknown
 */
struct mptcp_dpa_path_info {
	__u32	subflow_id;
	__u32	local_id;
	__u32	cost;
	__u32	flags;
	__u64	goodput;
	__u64	bytes_sent;
	__u64	bytes_acked;
	__u32	activations;
	__u32	ifindex;
};

/* mptcp_dpa_info::flags */
#define MPTCP_DPA_INFO_F_CHUNK	(1U << 0) /* a chunk is in force: chunk_* are valid */
#define MPTCP_DPA_INFO_F_STREAM	(1U << 1) /* intervals make the chunks */
#define MPTCP_DPA_INFO_F_RISK	(1U << 2) /* all paths together seem too slow */

/**
 * struct mptcp_dpa_info - what the scheduler knows of a connection
 * @header_size: bytes before the first row; later versions have more
 * @path_size: bytes in a row
 * @paths: rows that follow the header
 * @chunks_queued: chunks not yet over, the current one included
 * @flags: MPTCP_DPA_INFO_F_*
 * @chunk_alpha_milli: alpha in force for the current chunk; 0: it adapts
 * @conn_id: number of the connection in its namespace, as netlink shows it
 * @now_ns: CLOCK_MONOTONIC, of the caller's time namespace, when this was written
 * @chunk_length: bytes of the current chunk; an interval's so far
 * @chunk_sent: of them, given to a subflow
 * @chunk_acked: of them, acknowledged by the peer at connection level
 * @chunk_remaining: bytes still to be acknowledged until its end, those in
 *	front of it included
 * @chunk_deadline_ns: on the same clock
 * @chunk_left_ns: time until then; negative: late
 * @chunk_forecast: bytes that the paths in use will carry until then
 * @chunk_cookie: as it was set; of an interval its number, from 0
 * @chunks_met: chunks judged met since the connection began
 * @chunks_missed: chunks judged missed
 * @activations: times a held subflow was put in use
 * @decisions: decisions taken with a chunk in force, or overflow
 *
 * The verdict on a chunk is taken when all of it is acknowledged, or half the
 * longest least round-trip time of a path with packets out after its deadline,
 * if that is earlier: by then a DATA_ACK for a byte that was in time has come
 * back. It is met if the last DATA_ACK came no later after the deadline than
 * half the least round-trip time of the path that was heard from last, and 2 ms.
 */
struct mptcp_dpa_info {
	__u32	header_size;
	__u32	path_size;
	__u32	paths;
	__u32	chunks_queued;
	__u32	flags;
	__u32	chunk_alpha_milli;
	__u64	conn_id;
	__u64	now_ns;
	__u64	chunk_length;
	__u64	chunk_sent;
	__u64	chunk_acked;
	__u64	chunk_remaining;
	__u64	chunk_deadline_ns;
	__s64	chunk_left_ns;
	__u64	chunk_forecast;
	__u64	chunk_cookie;
	__u64	chunks_met;
	__u64	chunks_missed;
	__u64	activations;
	__u64	decisions;
	struct mptcp_dpa_path_info path[MPTCP_DPA_PATHS_MAX];
};

#endif /* _UAPI_LINUX_MPTCP_DPA_SOCK_H */
