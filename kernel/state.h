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

/* dpa_path::flags; who looks clears LIMITED, RESTED and LOST, and a scheduler no other */
#define DPA_PATH_USED		(1U << 0)	/* the row belongs to a subflow */
#define DPA_PATH_HELD		(1U << 1)	/* kept back by the scheduler */
#define DPA_PATH_STEERED	(1U << 2)	/* request_bkup follows HELD */
#define DPA_PATH_BACKUP		(1U << 3)	/* its endpoint is flagged backup */
#define DPA_PATH_SILENT		(1U << 4)	/* bytes are out, no ack comes */
#define DPA_PATH_STUCK		(1U << 5)	/* its bytes were given to others */
#define DPA_PATH_PAUSES		(1U << 6)	/* congestion control is BBR */
#define DPA_PATH_QUOTA		(1U << 7)	/* @quota and @granted count */
#define DPA_PATH_ACTIVE		(1U << 8)	/* joined, not stale, quota not spent */
#define DPA_PATH_BUSY		(1U << 9)	/* bytes are not acknowledged */
#define DPA_PATH_PAUSING	(1U << 10)	/* it measures the empty path now */
#define DPA_PATH_LIMITED	(1U << 11)	/* sender or peer held it back */
#define DPA_PATH_RESTED		(1U << 12)	/* had nothing on its way */
#define DPA_PATH_TOLD		(1U << 13)	/* its TCP knows that it is limited */
#define DPA_PATH_LOST		(1U << 14)	/* its TCP found packets lost */
#define DPA_PATH_QUEUED		(1U << 15)	/* too many others wait for their turn on it */

/* what dpa_path::share counts, in bytes a second */
#define DPA_SHARE_UNIT		1024U
/* and times of 16 bits, in microseconds */
#define DPA_RTT_UNIT_US		64U

/* One subflow. The module owns what is up to @fresh, the scheduler the rest. */
struct dpa_path {
	__u32	subflow_id;
	__u32	cost;		/* MPTCP_DPA_COST_FORBIDDEN: never to be used */
	__u32	activations;
	__u32	rate_max;	/* at which it counts at most; 0: any */
	__u32	quota;		/* bytes that it may carry; U32_MAX: any number */
	__u16	granted;	/* of them, taken for this connection */
	__u16	share;		/* what others get of the path each, KB/s; 0: not known */
	__u32	acked;		/* payload known to have arrived, low half */
	__u32	acked_tick;	/* when the last of that did, see dpa_tick() */
	__u32	behind;		/* bytes that go before any new one */
	__u32	flight;		/* of them, sent and not acknowledged */
	__u32	rtt_us;		/* the least round trip */
	__u32	srtt_us;	/* the smoothed one */
	__u32	pacing;		/* bytes a second that its TCP would send */
	__u32	window;		/* bytes, in slow start; 0: it is not */
	__u16	flags;
	__u16	rtt_age_ms;	/* since BBR measured the least round trip */
	__u16	losses;		/* packets that its TCP found lost, low bits */
	__u16	fresh;		/* the round trip acknowledged last, in DPA_RTT_UNIT_US; 0: none */

	/* the estimate, see estimate.h; rates are bytes a second */
	__u8	sampling : 1,	/* a sample runs */
		limited : 1,	/* and sender or peer held it back in it */
		was_limited : 1, /* or in the one before, seen a round trip later */
		known : 1,	/* it has ramped up once */
		usable : 1,	/* at the last look: it may carry data */
		pausing : 1,	/* its congestion control makes a pause */
		has_paused : 1;	/* since @pause_tick, or once */
	__u8	resting : 1,	/* it gets nothing until it is empty */
		restarts : 1,	/* it was, and has begun anew */
		ramping : 3,	/* the goodput still grows with each sample */
		shown : 1,	/* a sample has ended since it was empty */
		lost : 1,	/* packets were lost in the running one, by no queue */
		narrow : 1;	/* picks end where @room does: a small window, a slow link */
	__u16	sample_losses;	/* @losses when the running or last sample began */
	__u8	lossy;		/* the share of samples with a loss, in 256ths */
	__u8	rises;		/* samples in a row above the mean, up to DPA_RISES_SURE */
	__u16	fits;		/* what comes in time of what it is given, see pick.h */
	__u16	others;		/* queue that is not this connection's, in DPA_RTT_UNIT_US */
	__u16	was_rtt;	/* @srtt_us when samples began to bring @less, in the same */
	__u32	goodput;	/* smoothed; 0: nothing was sampled yet */
	__u32	best;		/* the most that was, of late */
	__u32	spread;		/* its standard deviation */
	__u32	last;		/* the last sample, if the path set its pace */
	__u32	sample_tick;	/* when the running or the last sample began */
	__u32	sample_acked;	/* low half of tcp_sock::bytes_acked then */
	union {
		__u32	sample_flight;	/* bytes that were on their way at least */
		__u32	empty_tick;	/* while none runs: it was seen empty; 0: unknown */
	};
	__u32	pause_tick;	/* when the last pause began, or ended */
	__u32	pause_in_us;	/* from now to the next one; U32_MAX: none */
	__u16	pause;		/* and how long that is, in DPA_RTT_UNIT_US */
	__u16	less;		/* how much less samples bring since @was_rtt, see queue.h */
	__u32	room;		/* bytes that may be behind before more is given */
	__u32	pace;		/* bytes a second, while its TCP is told it is limited; 0: any */
};

/* The connection, and the chunk in force: the first that is not all acked. */
struct dpa_state {
	/* the module's, brought up to date for each decision */
	__u64	now_ns;		/* CLOCK_MONOTONIC */
	__u64	written;	/* positions in the stream, in bytes */
	__u64	sent;
	__u64	acked;
	__u64	again;		/* of those sent, to be sent once more */
	__u64	window;		/* bytes after @acked that the peer has room for */
	__u64	costly_left;	/* bytes that paths above @least_cost may get */
	__u64	chunk_begin;
	__u64	chunk_end;
	__u64	chunk_start_ns;	/* when it became the one in force */
	__u64	chunk_deadline_ns;
	__u64	next_deadline_ns; /* of the first byte not sent, or of what it holds up; 0: none */
	__u32	least_cost;	/* of all active paths, silent ones as well */
	__u32	unit;		/* bytes that one pick sends at least */
	__u32	oldest;		/* what MPTCP's timer sends of the first fragment */
	__u32	rows;		/* of @path, that are or were in use */
	__u32	interval_us;	/* the least time between decisions */
	__u16	alpha_milli;	/* in force for the chunk; 0: adaptive */
	__u8	policy;		/* enum mptcp_dpa_policy */
	__u8	late_policy;	/* enum mptcp_dpa_late_policy */
	__u16	met;		/* chunks so far, low bits */
	__u16	missed;

	/*
	 * The scheduler's: its plan, which mptcp_dpa_send() carries out. While
	 * the plan stands the module does so without asking the scheduler.
	 */
	__u64	plan_until_ns;	/* so long it stands; 0, also by the module: no */
	__u64	fits_ns;	/* the deadline that dpa_path::fits is counted for; 0: no */
	__u32	cost_limit;	/* paths that cost more are held; 0: undecided */
	__u32	open_cost;	/* but these are not, for @budget bytes; 0: none */
	__u64	budget;
	__u32	burst;		/* bytes that a pick sends on the cheapest paths */
	__u32	cheapest;	/* cost of usable paths at the last look; 0: none */
	__u64	decided_ns;	/* when that was chosen */
	__u64	forecast;	/* bytes of those in use until the deadline */
	__u64	decisions;
	__u64	spent;		/* bytes of this chunk put on costlier paths */
	__u16	met_seen;	/* verdicts taken account of, low bits */
	__u16	missed_seen;
	__u8	caution;	/* standard deviations, in 16ths; 0: as preset */
	__u8	at_risk;	/* all paths together seem too slow */
	__u8	saved;		/* a path was held while this chunk was sent */
	__u8	trial;		/* a path is used to get to know it */
	__u8	learning;	/* the cheapest paths are not known yet */
	__u8	last;		/* the path picked last and 1; 0: none yet */

	struct dpa_path	path[MPTCP_DPA_PATHS_MAX];
};

/* One of the queued chunks. */
struct dpa_horizon {
	__u64	end;
	__u64	deadline_ns;
	__u32	alpha_milli;	/* 0: adaptive */
	__u32	late_policy;
};

#endif
