/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of a connection's state that its scheduler reads and writes, shared
 * between the module and BPF programs. Everything in it is protected by the
 * msk lock. Positions and the chunk are written by the module before each
 * decision, from its own records; whatever a program writes elsewhere can spoil
 * nothing but its own decisions.
 */
#ifndef _MPTCP_DPA_STATE_H
#define _MPTCP_DPA_STATE_H

#include <linux/mptcp_dpa_sock.h>

/* dpa_path::flags; the scheduler's wishes go through mptcp_dpa_hold() */
#define DPA_PATH_USED		(1U << 0)	/* the row belongs to a subflow */
#define DPA_PATH_HELD		(1U << 1)	/* kept back by the scheduler */
#define DPA_PATH_STEERED	(1U << 2)	/* request_bkup follows HELD */
#define DPA_PATH_BACKUP		(1U << 3)	/* its endpoint is flagged backup */

/* One subflow. The module owns the first four, the scheduler the rest. */
struct dpa_path {
	__u32	subflow_id;
	__u32	cost;		/* MPTCP_DPA_COST_FORBIDDEN: never to be used */
	__u32	flags;
	__u32	activations;

	__u64	goodput;	/* bytes a second, smoothed; 0: unknown */
	__u64	sample_ns;	/* when the running sample began; 0: none runs */
	__u32	sample_acked;	/* low half of tcp_sock::bytes_acked then */
	__u16	samples;	/* taken so far, up to 65535 */
	__u16	ramping;	/* the goodput still grows with each sample */
};

/* The usable paths, as one look at all of them finds them. */
struct dpa_outlook {
	__u64	goodput;	/* of those within the limit, added up */
	__u64	goodput_all;	/* of all */
	__u64	rtt_ns;		/* the longest smoothed round trip */
	__u32	cheapest;	/* cost; 0: there is no path */
	__u32	below;		/* the dearest cost under the limit, 0: none */
	__u32	above;		/* the cheapest cost over the limit, 0: none */
	__u32	ramping;	/* one within the limit still ramps up */
	__u32	unsure;		/* one of all has not shown what it can carry */
};

/* The connection, and the chunk in force: the first that is not all acked. */
struct dpa_state {
	/* the module's, brought up to date for each decision */
	__u64	now_ns;		/* CLOCK_MONOTONIC */
	__u64	written;	/* positions in the stream, in bytes */
	__u64	sent;
	__u64	acked;
	__u64	chunk_begin;
	__u64	chunk_end;
	__u64	chunk_start_ns;	/* when it became the one in force */
	__u64	chunk_deadline_ns;
	__u32	alpha_milli;	/* in force for the chunk */
	__u32	interval_us;	/* the least time between decisions */
	__u32	late_policy;	/* enum mptcp_dpa_late_policy */

	/* the scheduler's */
	__u64	decided_ns;	/* when cost_limit was last chosen */
	__u32	cost_limit;	/* paths that cost more are held; 0: undecided */
	__u32	at_risk;	/* all paths together seem too slow */
	__u64	forecast;	/* bytes of those in use until the deadline */
	__u64	decisions;
	__u64	best_linger;	/* while picking */
	struct dpa_outlook outlook;

	struct dpa_path	path[MPTCP_DPA_PATHS_MAX];
};

#endif
