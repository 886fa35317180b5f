// SPDX-License-Identifier: GPL-2.0-only
/* The socket options, called by the cgroup programs with the socket owned. */
#include <linux/filter.h>
#include <linux/mptcp_dpa_sock.h>
#include <linux/net.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "conn.h"
#include "guard.h"
#include "kfuncs.h"
#include "msk.h"
#include "path.h"
#include "tick.h"

/* Schedulers that take chunks say so by how their name begins. */
#define CHUNK_SCHEDULER		"mpdpa"

#define CHUNK_LENGTH_MAX	(1ULL << 62)

static bool takes_chunks(const struct mptcp_sock *msk)
{
	const struct mptcp_sched_ops *sched = msk_sched(msk);

	return sched && guard_covers(sched) &&
	       !strncmp(sched->name, CHUNK_SCHEDULER, strlen(CHUNK_SCHEDULER));
}

/* Can anything be said about bytes still to be written to this socket? */
static int check_socket(const struct sock *sk)
{
	const struct socket *sock = sk->sk_socket;

	if (sk->sk_state == TCP_LISTEN)
		return -ENOTCONN;
	/* a socket that was never connected is closed as well */
	if (sk->sk_state == TCP_CLOSE && sock && sock->state != SS_UNCONNECTED)
		return -ENOTCONN;
	if (sk->sk_shutdown & SEND_SHUTDOWN)
		return -EPIPE;
	if (msk_fell_back(msk_of((struct sock *)sk)))
		return -EPROTONOSUPPORT;
	return 0;
}

static int check_scheduler(const struct sock *sk)
{
	if (sk->sk_protocol != IPPROTO_MPTCP)
		return -ENOPROTOOPT;
	return takes_chunks(msk_of((struct sock *)sk)) ? 0 : -EOPNOTSUPP;
}

/* Fields that a longer structure of a later version has must be unset. */
static int copy_growable(void *to, size_t size, size_t least,
			 const void *from, size_t len)
{
	if (len < least)
		return -EINVAL;
	if (len > size && memchr_inv(from + size, 0, len - size))
		return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, min(size, len));
	return 0;
}

static int absolute_deadline(const struct mptcp_dpa_chunk *opt, u64 now_ns,
			     u64 *deadline_ns)
{
	bool absolute = opt->flags & MPTCP_DPA_CHUNK_F_ABS;
	u64 base = absolute ? 0 : now_ns;

	if (opt->deadline_ns > S64_MAX - base)
		return -EOVERFLOW;
	*deadline_ns = base + opt->deadline_ns;
	return *deadline_ns > now_ns ? 0 : -ETIME;
}

static int parse_chunk(const struct mptcp_dpa_chunk *opt, struct chunk *chunk)
{
	u64 now_ns = ktime_get_ns();

	if (opt->flags & ~MPTCP_DPA_CHUNK_F_ABS)
		return -EINVAL;
	if (opt->alpha_milli && (opt->alpha_milli < MPTCP_DPA_ALPHA_MIN ||
				 opt->alpha_milli > MPTCP_DPA_ALPHA_MAX))
		return -EINVAL;
	if (!opt->length)
		return -ENODATA;
	if (opt->length > CHUNK_LENGTH_MAX)
		return -EFBIG;

	*chunk = (struct chunk){
		.end = opt->length,
		.start_ns = now_ns,
		.cookie = opt->cookie,
		.alpha_milli = opt->alpha_milli,
	};
	return absolute_deadline(opt, now_ns, &chunk->deadline_ns);
}

static int set_chunk(struct sock *sk, const void *val, size_t len)
{
	struct mptcp_dpa_chunk opt;
	struct chunk chunk;
	struct conn *c;
	int err;

	err = copy_growable(&opt, sizeof(opt), MPTCP_DPA_CHUNK_SIZE_V1, val,
			    len);
	if (!err)
		err = parse_chunk(&opt, &chunk);
	if (!err)
		err = check_socket(sk);
	if (err)
		return err;

	c = conn_get_or_create(sk);
	if (!c)
		return -ENOMEM;
	conn_refresh(c);
	err = chunk_queue_add(&c->queue, &chunk, c->state.written);
	if (!err)
		tick_soon(c);
	return err;
}

static u32 path_flags(const struct conn *c, const struct dpa_path *row,
		      struct mptcp_subflow_context *sf)
{
	u32 flags = 0;

	if (kf_subflow_active(sf))
		flags |= MPTCP_DPA_PATH_F_ACTIVE;
	if (c->queue.count && (row->flags & DPA_PATH_HELD))
		flags |= MPTCP_DPA_PATH_F_HELD;
	if (subflow_request_bkup(sf))
		flags |= MPTCP_DPA_PATH_F_REQUEST_BKUP;
	if (row->goodput)
		flags |= MPTCP_DPA_PATH_F_ESTIMATED;
	return flags;
}

static void fill_path(struct mptcp_dpa_path_info *info, struct conn *c,
		      struct mptcp_subflow_context *sf)
{
	const struct tcp_sock *tp = tcp_sk(subflow_ssk(sf));
	const struct dpa_path *row;
	int i = path_row(c, sf);

	if (i < 0)
		return;
	row = &c->state.path[i];
	info->subflow_id = row->subflow_id;
	info->local_id = max(subflow_local_id(sf), 0);
	info->cost = row->cost;
	info->flags = path_flags(c, row, sf);
	info->goodput = row->goodput;
	info->bytes_sent = tp->bytes_sent;
	info->bytes_acked = tp->bytes_acked;
	info->activations = row->activations;
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

	if (!first)
		return;
	info->flags |= MPTCP_DPA_INFO_F_CHUNK;
	info->chunk_length = first->end - first->begin;
	info->chunk_sent = within(c->state.sent, first);
	info->chunk_acked = within(c->state.acked, first);
	info->chunk_deadline_ns = first->deadline_ns;
	info->chunk_cookie = first->cookie;
	info->chunk_alpha_milli = c->state.alpha_milli;
}

static void fill_info(struct mptcp_dpa_info *info, struct conn *c)
{
	struct mptcp_subflow_context *sf;

	conn_refresh(c);
	info->chunks_queued = c->queue.count;
	info->now_ns = c->state.now_ns;
	info->chunks_met = c->chunks_met;
	info->chunks_missed = c->chunks_missed;
	info->decisions = c->state.decisions;
	fill_chunk(info, c);
	msk_for_each_subflow(msk_of(c->sk), sf) {
		if (info->paths == MPTCP_DPA_PATHS_MAX)
			break;
		fill_path(&info->path[info->paths++], c, sf);
	}
	mark_costly(info);
}

static int get_info(struct sock *sk, void *val, size_t len)
{
	struct mptcp_dpa_info info = {
		.path_size = sizeof(info.path[0]),
		.now_ns = ktime_get_ns(),
	};
	struct conn *c = conn_find(sk);

	if (len < offsetofend(struct mptcp_dpa_info, path_size))
		return -EINVAL;
	if (c)
		fill_info(&info, c);
	len = min(len, sizeof(info));
	memcpy(val, &info, len);
	return len;
}

/* The caller's value, or as much as the kernel copied of a very long one. */
static size_t value_size(const struct bpf_sockopt_kern *ctx)
{
	return min_t(size_t, max(ctx->optlen, 0),
		     ctx->optval_end - ctx->optval);
}

int kf_setsockopt(struct bpf_sockopt *prog_ctx)
{
	struct bpf_sockopt_kern *ctx = (void *)prog_ctx;
	int err = check_scheduler(ctx->sk);

	if (err)
		return err;
	if (ctx->optname != MPTCP_DPA_CHUNK)
		return -ENOPROTOOPT;
	if (ctx->optlen > ctx->optval_end - ctx->optval)
		return -E2BIG;
	err = set_chunk(ctx->sk, ctx->optval, value_size(ctx));
	if (!err)
		ctx->optlen = -1;
	return err;
}

int kf_getsockopt(struct bpf_sockopt *prog_ctx)
{
	struct bpf_sockopt_kern *ctx = (void *)prog_ctx;
	int ret = check_scheduler(ctx->sk);

	if (ret)
		return ret;
	if (ctx->optname != MPTCP_DPA_INFO)
		return -ENOPROTOOPT;
	ret = get_info(ctx->sk, ctx->optval, value_size(ctx));
	if (ret < 0)
		return ret;
	ctx->optlen = ret;
	return 0;
}
