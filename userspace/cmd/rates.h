/* SPDX-License-Identifier: GPL-2.0 */
/* Two looks at the connections, and what has changed between them. */
#ifndef MPDPA_CMD_RATES_H
#define MPDPA_CMD_RATES_H

#include <stddef.h>

#include "mpdpa.h"

/* A connection and what one look alone does not tell. */
struct rated {
	struct mpdpa_conn conn;
	uint64_t goodput;			/* bytes a second, acknowledged */
	uint64_t path_goodput[MPTCP_DPA_PATHS_MAX];
	uint64_t chunk_seen_ns;			/* when its chunk was first seen */
};

struct look {
	uint64_t now_ns;
	size_t count, room;
	struct rated *at;	/* in the order of their numbers */
	struct mpdpa_stats stats;
};

/* Reads all connections and the counters: 0 or -errno. */
int look_take(struct look *look, struct mpdpa_ctl *ctl);
void look_free(struct look *look);

/* Fills in what an earlier look has to say about a later one. Pure. */
void look_compare(struct look *later, const struct look *earlier);

/* Those with a chunk first, the most urgent of them in front. Pure. */
void look_sort(struct look *look);

#endif /* MPDPA_CMD_RATES_H */
