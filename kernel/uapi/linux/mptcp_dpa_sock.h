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

#include <linux/types.h>

#define MPTCP_DPA_CHUNK		0x4450	/* set: struct mptcp_dpa_chunk */
#define MPTCP_DPA_INFO		0x4451	/* get: struct mptcp_dpa_info */

/* Chunks that may wait on one connection; one more gives ENOBUFS. */
#define MPTCP_DPA_CHUNKS_MAX	64

/* Subflows of one connection that get an estimate and a row in the info. */
#define MPTCP_DPA_PATHS_MAX	8

/* The range of alpha, in thousandths. */
#define MPTCP_DPA_ALPHA_MIN	100
#define MPTCP_DPA_ALPHA_MAX	4000

/* mptcp_dpa_chunk::flags */
#define MPTCP_DPA_CHUNK_F_ABS	(1U << 0)	/* deadline_ns is absolute */

/**
 * struct mptcp_dpa_chunk - the next bytes of the stream and when they are due
 * @length: bytes; the chunk begins where the previous one ends, or at the next
 *	byte to be written if none waits. 1 .. 2^62.
 * @deadline_ns: from now, or with %MPTCP_DPA_CHUNK_F_ABS on CLOCK_MONOTONIC;
 *	the time at which the peer shall have the last byte.
 * @cookie: returned in the info and in events, otherwise not looked at.
 * @alpha_milli: deadline sensitivity in thousandths, %MPTCP_DPA_ALPHA_MIN ..
 *	%MPTCP_DPA_ALPHA_MAX; 0 takes the network namespace's.
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

/* mptcp_dpa_path_info::flags */
#define MPTCP_DPA_PATH_F_ACTIVE		(1U << 0) /* can carry data */
#define MPTCP_DPA_PATH_F_COSTLY		(1U << 1) /* dearer than the cheapest active one */
#define MPTCP_DPA_PATH_F_HELD		(1U << 2) /* kept back by the scheduler */
#define MPTCP_DPA_PATH_F_REQUEST_BKUP	(1U << 3) /* the peer was told: backup */
#define MPTCP_DPA_PATH_F_ESTIMATED	(1U << 4) /* goodput was measured */

/**
 * struct mptcp_dpa_path_info - one subflow
 * @subflow_id: the kernel's number of it within the connection, from 1
 * @local_id: address id at this end, 0 for the first subflow
 * @cost: per byte, as resolved from the namespace's path costs
 * @flags: MPTCP_DPA_PATH_F_*
 * @goodput: estimate in bytes a second, 0 while unknown
 * @bytes_sent: payload put on it, retransmissions included
 * @bytes_acked: payload the peer acknowledged on it
 * @activations: times it went from held to in use
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
	__u32	reserved;
};

/* mptcp_dpa_info::flags */
#define MPTCP_DPA_INFO_F_CHUNK	(1U << 0) /* a chunk is in force: chunk_* are valid */

/**
 * struct mptcp_dpa_info - what the scheduler knows of a connection
 * @paths: rows that follow in @path
 * @path_size: bytes in a row, for stepping through them
 * @chunks_queued: chunks not yet over, the current one included
 * @flags: MPTCP_DPA_INFO_F_*
 * @chunk_length: bytes of the current chunk
 * @chunk_sent: of them, given to a subflow
 * @chunk_acked: of them, acknowledged by the peer at connection level
 * @chunk_deadline_ns: on CLOCK_MONOTONIC
 * @chunk_cookie: as it was set
 * @chunk_alpha_milli: alpha in force for it
 * @now_ns: CLOCK_MONOTONIC when this was written
 * @chunks_met: chunks judged met since the connection began
 * @chunks_missed: chunks judged missed
 * @decisions: decisions taken with a chunk in force
 *
 * The verdict on a chunk is taken half the least round-trip time after its
 * deadline: by then a DATA_ACK for a byte that was in time has come back.
 */
struct mptcp_dpa_info {
	__u32	paths;
	__u32	path_size;
	__u32	chunks_queued;
	__u32	flags;
	__u64	chunk_length;
	__u64	chunk_sent;
	__u64	chunk_acked;
	__u64	chunk_deadline_ns;
	__u64	chunk_cookie;
	__u32	chunk_alpha_milli;
	__u32	reserved;
	__u64	now_ns;
	__u64	chunks_met;
	__u64	chunks_missed;
	__u64	decisions;
	struct mptcp_dpa_path_info path[MPTCP_DPA_PATHS_MAX];
};

#endif /* _UAPI_LINUX_MPTCP_DPA_SOCK_H */
