// SPDX-License-Identifier: GPL-2.0-only
#include <net/tcp.h>

#include "clock.h"
#include "conn.h"
#include "info.h"
#include "kfuncs.h"
#include "msk.h"
#include "path.h"
#include "view.h"

static u32 path_flags(const struct conn *c, const struct dpa_path *row,
		      struct mptcp_subflow_context *sf)
{
	u32 flags = 0;

	if (kf_subflow_active(sf))
		flags |= MPTCP_DPA_PATH_F_ACTIVE;
	if (conn_steers(c) && (row->flags & DPA_PATH_HELD))
		flags |= MPTCP_DPA_PATH_F_HELD;
	if (subflow_request_bkup(sf))
		flags |= MPTCP_DPA_PATH_F_REQUEST_BKUP;
	if (row->goodput)
		flags |= MPTCP_DPA_PATH_F_ESTIMATED;
	if (row->cost == MPTCP_DPA_COST_FORBIDDEN)
		flags |= MPTCP_DPA_PATH_F_FORBIDDEN;
	return flags;
}

/* false: all rows of the state belong to others */
static bool fill_path(struct mptcp_dpa_path_info *info, struct conn *c,
		      struct mptcp_subflow_context *sf)
{
	const struct tcp_sock *tp = tcp_sk(subflow_ssk(sf));
	const struct dpa_path *row;
	int i = path_row(c, sf, 0);

	if (i < 0)
		return false;
	row = &c->state.path[i];
	info->subflow_id = row->subflow_id;
	info->local_id = max(subflow_local_id(sf), 0);
	info->cost = row->cost;
	info->flags = path_flags(c, row, sf);
	info->goodput = row->goodput;
	info->bytes_sent = tp->bytes_sent;
	info->bytes_acked = tp->bytes_acked;
	info->activations = row->activations;
	info->ifindex = c->path[i].ifindex;
	return true;
}

static void mark_costly(struct mptcp_dpa_info *info)
{
	u32 least = U32_MAX;
	u32 i;

	for (i = 0; i < info->paths; i++)
		if (info->path[i].flags & MPTCP_DPA_PATH_F_ACTIVE)
			least = min(least, info->path[i].cost);
	for (i = 0; i < info->paths; i++)
		if (info->path[i].cost > least)
			info->path[i].flags |= MPTCP_DPA_PATH_F_COSTLY;
}

static u64 within(u64 position, const struct chunk *chunk)
{
	return clamp(position, chunk->begin, chunk->end) - chunk->begin;
}

static void fill_chunk(struct mptcp_dpa_info *info, const struct conn *c)
{
	const struct chunk *first = chunk_queue_first(&c->queue);
	const struct dpa_state *st = &c->state;

	if (!first)
		return;
	info->flags |= MPTCP_DPA_INFO_F_CHUNK;
	if (st->at_risk)
		info->flags |= MPTCP_DPA_INFO_F_RISK;
	info->chunk_alpha_milli = st->alpha_milli;
	info->chunk_length = first->end - first->begin;
	info->chunk_sent = within(st->sent, first);
	info->chunk_acked = within(st->acked, first);
	info->chunk_remaining = max(first->end, st->acked) - st->acked;
	info->chunk_deadline_ns = first->deadline_ns + clock_ahead_ns();
	info->chunk_left_ns = first->deadline_ns - st->now_ns;
	info->chunk_forecast = st->forecast;
	info->chunk_cookie = first->cookie;
}

/**
 * info_init() - what is shown of a connection that has no state
 * @info: filled; times are by the calling process's clock
 *
 * Context: process.
 */
void info_init(struct mptcp_dpa_info *info)
{
	*info = (struct mptcp_dpa_info){
		.header_size = offsetof(struct mptcp_dpa_info, path),
		.path_size = sizeof(info->path[0]),
		.now_ns = ktime_get_ns() + clock_ahead_ns(),
	};
}

/**
 * info_fill() - show a connection
 * @info: filled
 * @c: the connection; judged and brought up to date on the way
 *
 * Context: process; msk lock.
 */
void info_fill(struct mptcp_dpa_info *info, struct conn *c)
{
	struct mptcp_subflow_context *sf;

	info_init(info);
	view_refresh(c);
	if (c->stream.interval_ns)
		info->flags |= MPTCP_DPA_INFO_F_STREAM;
	info->chunks_queued = c->queue.count;
	info->conn_id = c->id;
	info->now_ns = c->state.now_ns + clock_ahead_ns();
	info->chunks_met = c->chunks_met;
	info->chunks_missed = c->chunks_missed;
	info->activations = c->activations;
	info->decisions = c->state.decisions;
	fill_chunk(info, c);
	msk_for_each_subflow(msk_of(c->sk), sf) {
		if (info->paths == MPTCP_DPA_PATHS_MAX)
			break;
		if (fill_path(&info->path[info->paths], c, sf))
			info->paths++;
	}
	mark_costly(info);
}
