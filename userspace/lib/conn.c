// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Connections of a network namespace: read them, change them. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "ctl.h"

/* Everything of an attribute of this size fits behind what is in a request. */
#define PREF_ROOM	64

static const struct path_attrs attrs = {
	.endpoint = MPTCP_DPA_A_PREF_ENDPOINT_ID,
	.ifindex = MPTCP_DPA_A_PREF_IFINDEX,
	.addr4 = MPTCP_DPA_A_PREF_ADDR4,
	.addr6 = MPTCP_DPA_A_PREF_ADDR6,
	.cost = MPTCP_DPA_A_PREF_COST,
};

struct listing {
	int (*visit)(const struct mpdpa_conn *conn, void *data);
	void *data;
};

static void read_chunk(const struct nlattr *nest, struct mpdpa_conn_chunk *chunk)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_CHUNK_LENGTH:
			chunk->length = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_DEADLINE_NS:
			chunk->deadline_ns = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_COOKIE:
			chunk->cookie = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_ALPHA_MILLI:
			chunk->alpha_milli = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CHUNK_LATE_POLICY:
			chunk->flags = MPTCP_DPA_CHUNK_F_SPEND * (attr_u8(attr) + 1);
			break;
		case MPTCP_DPA_A_CHUNK_SENT:
			chunk->sent = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_ACKED:
			chunk->acked = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_FORECAST:
			chunk->forecast = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CHUNK_AT_RISK:
			chunk->at_risk = 1;
			break;
		}
	}
}

static void read_subflow(const struct nlattr *nest, struct mptcp_dpa_path_info *path)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_SUBFLOW_ID:
			path->subflow_id = attr_u32(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_LOCAL_ID:
			path->local_id = attr_u8(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_IFINDEX:
			path->ifindex = attr_u32(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_COST:
			path->cost = attr_u32(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_FLAGS:
			path->flags = attr_u32(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_ACTIVATIONS:
			path->activations = attr_u32(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_GOODPUT:
			path->goodput = attr_u64(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_BYTES_SENT:
			path->bytes_sent = attr_u64(attr);
			break;
		case MPTCP_DPA_A_SUBFLOW_BYTES_ACKED:
			path->bytes_acked = attr_u64(attr);
			break;
		}
	}
}

static void read_pref(const struct nlattr *nest, struct mpdpa_path *pref)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		path_take(pref, &attrs, attr);
}

/* Attributes that hold others. */
static void read_nest(const struct nlattr *attr, struct mpdpa_conn *conn)
{
	switch (mnl_attr_get_type(attr)) {
	case MPTCP_DPA_A_CONN_CHUNK:
		conn->has_chunk = 1;
		read_chunk(attr, &conn->chunk);
		break;
	case MPTCP_DPA_A_CONN_SUBFLOW:
		if (conn->paths < MPTCP_DPA_PATHS_MAX)
			read_subflow(attr, &conn->path[conn->paths++]);
		break;
	case MPTCP_DPA_A_CONN_PREF:
		if (conn->prefs < MPTCP_DPA_PREFS_MAX)
			read_pref(attr, &conn->pref[conn->prefs++]);
		break;
	}
}

static void read_conn(const struct nlmsghdr *nlh, struct mpdpa_conn *conn)
{
	const struct nlattr *attr;

	*conn = (struct mpdpa_conn){ 0 };
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case MPTCP_DPA_A_CONN_ID:
			conn->id = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_TOKEN:
			conn->token = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_COOKIE:
			conn->cookie = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_UID:
			conn->uid = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_ALPHA_MILLI:
			conn->alpha_milli = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_OVERFLOW_MS:
			conn->overflow_ms = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_CHUNKS_QUEUED:
			conn->chunks_queued = attr_u32(attr);
			break;
		case MPTCP_DPA_A_CONN_CHUNKS_MET:
			conn->chunks_met = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_CHUNKS_MISSED:
			conn->chunks_missed = attr_u64(attr);
			break;
		case MPTCP_DPA_A_CONN_DECISIONS:
			conn->decisions = attr_u64(attr);
			break;
		default:
			read_nest(attr, conn);
		}
	}
}

static int on_get(const struct nlmsghdr *nlh, void *data)
{
	read_conn(nlh, data);
	return 0;
}

static void put_name(struct nlmsghdr *nlh, uint64_t id, uint32_t token)
{
	if (id)
		mnl_attr_put_u64(nlh, MPTCP_DPA_A_CONN_ID, id);
	else
		mnl_attr_put_u32(nlh, MPTCP_DPA_A_CONN_TOKEN, token);
}

int mpdpa_conn_get(struct mpdpa_ctl *ctl, struct mpdpa_conn *conn, size_t size)
{
	struct mpdpa_conn all;
	struct nlmsghdr *nlh;
	int err;

	if (size < offsetof(struct mpdpa_conn, uid) || !conn->id == !conn->token)
		return ctl_refuse(ctl, -EINVAL);
	nlh = genl_request(&ctl->genl, MPTCP_DPA_CMD_CONN_GET, 0);
	put_name(nlh, conn->id, conn->token);
	err = genl_talk(&ctl->genl, nlh, on_get, &all);
	if (!err)
		copy_out(conn, size, &all, sizeof(all));
	return err;
}

static int on_list(const struct nlmsghdr *nlh, void *data)
{
	const struct listing *listing = data;
	struct mpdpa_conn conn;

	read_conn(nlh, &conn);
	return listing->visit(&conn, listing->data);
}

int mpdpa_conn_list(struct mpdpa_ctl *ctl,
		    int (*visit)(const struct mpdpa_conn *conn, void *data), void *data)
{
	struct listing listing = { .visit = visit, .data = data };
	struct nlmsghdr *nlh;

	nlh = genl_request(&ctl->genl, MPTCP_DPA_CMD_CONN_GET, NLM_F_DUMP);
	return genl_talk(&ctl->genl, nlh, on_list, &listing);
}

static int check_prefs(const struct mpdpa_conn_change *change)
{
	uint32_t i;
	int err;

	for (i = 0; i < change->pref_count; i++) {
		const struct mpdpa_path *pref = &change->prefs[i];

		err = path_check_name(pref);
		if (err)
			return err;
		if (pref->cost > MPTCP_DPA_COST_MAX && pref->cost != MPTCP_DPA_COST_FORBIDDEN)
			return -ERANGE;
	}
	return 0;
}

static int check_change(const struct mpdpa_conn_change *change)
{
	const uint32_t flags = MPTCP_DPA_CHUNK_F_ABS | MPTCP_DPA_CHUNK_LATE_MASK;

	if (!change->id == !change->token)
		return -EINVAL;
	if (change->what & ~(MPDPA_CHANGE_ALPHA | MPDPA_CHANGE_CHUNK | MPDPA_CHANGE_OVERFLOW))
		return -EINVAL;
	if ((change->what & MPDPA_CHANGE_CHUNK) && (change->chunk.flags & ~flags))
		return -EINVAL;
	return check_prefs(change);
}

/* Netlink takes a deadline from now. */
static uint64_t from_now(const struct mptcp_dpa_chunk *chunk)
{
	struct timespec now;
	uint64_t now_ns;

	if (!(chunk->flags & MPTCP_DPA_CHUNK_F_ABS))
		return chunk->deadline_ns;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = now.tv_sec * MPDPA_SECOND + now.tv_nsec;
	return chunk->deadline_ns > now_ns ? chunk->deadline_ns - now_ns : 0;
}

static void put_chunk(struct nlmsghdr *nlh, const struct mptcp_dpa_chunk *chunk)
{
	uint32_t late = (chunk->flags & MPTCP_DPA_CHUNK_LATE_MASK) / MPTCP_DPA_CHUNK_F_SPEND;
	struct nlattr *nest = mnl_attr_nest_start(nlh, MPTCP_DPA_A_CONN_CHUNK);

	mnl_attr_put_u64(nlh, MPTCP_DPA_A_CHUNK_LENGTH, chunk->length);
	mnl_attr_put_u64(nlh, MPTCP_DPA_A_CHUNK_DEADLINE_NS, from_now(chunk));
	mnl_attr_put_u64(nlh, MPTCP_DPA_A_CHUNK_COOKIE, chunk->cookie);
	mnl_attr_put_u32(nlh, MPTCP_DPA_A_CHUNK_ALPHA_MILLI, chunk->alpha_milli);
	if (late)
		mnl_attr_put_u8(nlh, MPTCP_DPA_A_CHUNK_LATE_POLICY, late - 1);
	mnl_attr_nest_end(nlh, nest);
}

static void put_pref(struct nlmsghdr *nlh, const struct mpdpa_path *pref)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, MPTCP_DPA_A_CONN_PREF);

	path_put_name(nlh, &attrs, pref);
	mnl_attr_put_u32(nlh, MPTCP_DPA_A_PREF_COST, pref->cost);
	mnl_attr_nest_end(nlh, nest);
}

int mpdpa_conn_set(struct mpdpa_ctl *ctl, const struct mpdpa_conn_change *change, size_t size)
{
	struct mpdpa_conn_change all;
	struct nlmsghdr *nlh;
	uint32_t i;
	int err;

	if (!copy_in(&all, sizeof(all), change, size))
		return ctl_refuse(ctl, -E2BIG);
	err = check_change(&all);
	if (err)
		return ctl_refuse(ctl, err);
	nlh = genl_request(&ctl->genl, MPTCP_DPA_CMD_CONN_SET, 0);
	put_name(nlh, all.id, all.token);
	if (all.what & MPDPA_CHANGE_ALPHA)
		mnl_attr_put_u32(nlh, MPTCP_DPA_A_CONN_ALPHA_MILLI, all.alpha_milli);
	if (all.what & MPDPA_CHANGE_OVERFLOW)
		mnl_attr_put_u32(nlh, MPTCP_DPA_A_CONN_OVERFLOW_MS, all.overflow_ms);
	if (all.what & MPDPA_CHANGE_CHUNK)
		put_chunk(nlh, &all.chunk);
	for (i = 0; i < all.pref_count; i++) {
		if (nlh->nlmsg_len + PREF_ROOM > sizeof(ctl->genl.buffer))
			return ctl_refuse(ctl, -ENOSPC);
		put_pref(nlh, &all.prefs[i]);
	}
	return genl_talk(&ctl->genl, nlh, NULL, NULL);
}
