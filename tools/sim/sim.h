/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection: what it is to do, and how far it has come. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

#include "decision.h"

#include "path.h"

#define PATHS_MAX	MPTCP_DPA_PATHS_MAX
#define STRETCHES_MAX	4096

struct chunk {
	uint64_t	begin, end, release_ns, deadline_ns;
	uint64_t	done_ns;	/* the receiver has all of it; 0: not yet */
	bool		over;		/* all acknowledged */
};

/* bytes of the stream that the receiver has */
struct stretch {
	uint64_t	from, to;
};

/* the one run of this process */
struct sim {
	int		paths;
	struct path	path[PATHS_MAX];
	uint64_t	activations[PATHS_MAX];
	bool		was_held[PATHS_MAX];
	bool		released[PATHS_MAX];	/* taken off hold, and nothing sent since */
	int		chunks;
	struct chunk	*chunk;
	uint64_t	bytes, sndbuf, end_ns;
	bool		stock;
	uint64_t	next_end;	/* dpa_state::next_deadline_ns holds up to it */

	uint64_t	now_ns;
	uint64_t	written, sent, acked, received;
	struct stretch	stretch[STRETCHES_MAX];
	int		stretches;
	struct dpa_state st;
	struct dpa_scratch scratch;
	uint64_t	data_ack[1 << 16];	/* by step, one way behind */
	/* bytes at the end of each fragment that are to be sent again, all of them */
	uint16_t	*again;
	uint64_t	again_bytes;
	/* and how many a path was relieved of, the most so far */
	uint16_t	(*tried)[PATHS_MAX];
};

extern struct sim sim;

void sim_run(void);

#endif
