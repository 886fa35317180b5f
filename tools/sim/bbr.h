/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the kernel's BBR (N. Cardwell et al., ACM Queue 14(5), 2016): what a
 * sender's window and pace become by its acknowledgements and losses.
 */
#ifndef _SIM_BBR_H
#define _SIM_BBR_H

#include <stdbool.h>
#include <stdint.h>

struct packet;
struct path;

/* of BBR's filter */
#define BW_ROUNDS	10

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

struct bbr {
	enum bbr_mode	mode;
	double		bw[BW_ROUNDS];	/* the most of each of these round trips */
	uint64_t	bw_round;	/* the last of them */
	uint64_t	round;
	uint64_t	round_end;	/* delivered that ends it */
	double		full_bw;
	int		full_rounds;
	int		phase;
	uint64_t	phase_ns;
	uint64_t	min_rtt_ns, min_rtt_stamp_ns;
	uint64_t	probe_rtt_done_ns;
	bool		idle_restart;
	double		pacing;		/* bytes a second */
	double		cwnd, prior_cwnd;	/* bytes; before the window was cut */
	double		more[2];	/* acknowledged at once, each in 5 round trips */
	int		more_at;
	uint64_t	more_round, epoch_ns;
	double		epoch_acked;
	bool		recovering, conserving;
	uint64_t	recovered_seq;	/* numbers up to it end the recovery */
};

void bbr_init(struct path *p);
/* Segments of one send. */
double bbr_tso_segments(const struct bbr *b);
/* A path that was empty sends. */
void bbr_leave_idle(struct path *p, uint64_t now_ns);
/* The first packets of some are found lost. */
void bbr_note_loss(struct bbr *b);
/* One packet is acknowledged. */
void bbr_ack(struct path *p, const struct packet *k, uint64_t now_ns);
/* So many bytes were acknowledged at once, with bbr_ack() called for each packet, and so many are found lost. */
void bbr_adjust(struct path *p, uint64_t acked, uint64_t lost, uint64_t now_ns);

#endif
