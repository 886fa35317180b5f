// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "connshow.h"
#include "grow.h"
#include "rates.h"

static int keep(const struct mpdpa_conn *conn, void *data)
{
	struct look *look = data;
	struct rated *at = grow(look->at, look->count, &look->room, sizeof(*at));

	if (!at)
		return -ENOMEM;
	look->at = at;
	look->at[look->count++] = (struct rated){ .conn = *conn };
	return 0;
}

int look_take(struct look *look, struct mpdpa_ctl *ctl)
{
	int err;

	look->count = 0;
	err = mpdpa_conn_list(ctl, keep, look);
	if (!err)
		err = mpdpa_stats_get(ctl, &look->stats, sizeof(look->stats));
	look->now_ns = monotonic_ns();
	return err;
}

void look_free(struct look *look)
{
	free(look->at);
	*look = (struct look){ 0 };
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * MPDPA_SECOND / ns : 0;
}

static const struct mptcp_dpa_path_info *find_path(const struct mpdpa_conn *conn, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < conn->paths; i++) {
		if (conn->path[i].subflow_id == id)
			return &conn->path[i];
	}
	return NULL;
}

static void compare_conn(struct rated *later, const struct rated *earlier, uint64_t ns)
{
	uint32_t i;

	for (i = 0; i < later->conn.paths; i++) {
		const struct mptcp_dpa_path_info *path = &later->conn.path[i];
		const struct mptcp_dpa_path_info *was = find_path(&earlier->conn, path->subflow_id);

		if (!was || path->bytes_acked < was->bytes_acked)
			continue;
		later->path_goodput[i] = per_second(path->bytes_acked - was->bytes_acked, ns);
		later->goodput += later->path_goodput[i];
	}
	if (later->conn.has_chunk && earlier->conn.has_chunk &&
	    later->conn.chunk.deadline_ns == earlier->conn.chunk.deadline_ns)
		later->chunk_seen_ns = earlier->chunk_seen_ns;
}

void look_compare(struct look *later, const struct look *earlier)
{
	size_t i, j = 0;

	for (i = 0; i < later->count; i++) {
		struct rated *rated = &later->at[i];

		rated->chunk_seen_ns = later->now_ns;
		while (j < earlier->count && earlier->at[j].conn.id < rated->conn.id)
			j++;
		if (j < earlier->count && earlier->at[j].conn.id == rated->conn.id)
			compare_conn(rated, &earlier->at[j], later->now_ns - earlier->now_ns);
	}
}

static int by_urgency(const void *a, const void *b)
{
	const struct mpdpa_conn *x = &((const struct rated *)a)->conn;
	const struct mpdpa_conn *y = &((const struct rated *)b)->conn;

	if (x->has_chunk != y->has_chunk)
		return x->has_chunk ? -1 : 1;
	if (x->has_chunk && x->chunk.deadline_ns != y->chunk.deadline_ns)
		return x->chunk.deadline_ns < y->chunk.deadline_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

void look_sort(struct look *look)
{
	if (look->count)
		qsort(look->at, look->count, sizeof(look->at[0]), by_urgency);
}
