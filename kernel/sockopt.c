// SPDX-License-Identifier: GPL-2.0-only
/* The socket options, called by the cgroup programs with the socket owned. */
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/eventfd.h>
#include <linux/filter.h>
#include <linux/mptcp_dpa_sock.h>
#include <linux/net.h>
#include <linux/overflow.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "clock.h"
#include "conn.h"
#include "guard.h"
#include "kfuncs.h"
#include "msk.h"
#include "info.h"
#include "path.h"
#include "pref.h"
#include "room.h"
#include "sockopt.h"
#include "stat.h"
#include "stream.h"
#include "tick.h"
#include "view.h"

/* Schedulers that take chunks say so by how their name begins. */
#define CHUNK_SCHEDULER		"mpdpa"

#define CHUNK_LENGTH_MAX	BIT_ULL(62)

#define STREAM_INTERVAL_MIN_NS	NSEC_PER_MSEC
#define STREAM_INTERVAL_MAX_NS	(3600 * NSEC_PER_SEC)
#define STREAM_DEADLINE_MAX_NS	BIT_ULL(62)

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

/**
 * sockopt_check_scheduler() - does the socket's scheduler honour our options?
 * @sk: any socket
 *
 * Return: 0, -ENOPROTOOPT if it is no MPTCP socket, -EOPNOTSUPP if not.
 */
int sockopt_check_scheduler(const struct sock *sk)
{
	if (!is_mptcp_socket(sk))
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
	s64 base = absolute ? -clock_ahead_ns() : now_ns;
	s64 at;

	if (opt->deadline_ns > S64_MAX ||
	    check_add_overflow((s64)opt->deadline_ns, base, &at))
		return -EOVERFLOW;
	if (at <= (s64)now_ns)
		return -ETIME;
	*deadline_ns = at;
	return 0;
}

static bool valid_alpha(u32 alpha_milli)
{
	return !alpha_milli || (alpha_milli >= MPTCP_DPA_ALPHA_MIN &&
				alpha_milli <= MPTCP_DPA_ALPHA_MAX);
}

/* enum mptcp_dpa_late_policy + 1, 0 to inherit */
static u8 late_of(u32 flags)
{
	return (flags & MPTCP_DPA_CHUNK_LATE_MASK) /
	       MPTCP_DPA_CHUNK_F_SPEND;
}

static int parse_chunk(const struct mptcp_dpa_chunk *opt, struct chunk *chunk)
{
	u64 now_ns = ktime_get_ns();

	if ((opt->flags & ~(MPTCP_DPA_CHUNK_F_ABS | MPTCP_DPA_CHUNK_LATE_MASK)) ||
	    !valid_alpha(opt->alpha_milli))
		return -EINVAL;
	if (!opt->length)
		return -ENODATA;
	if (opt->length > CHUNK_LENGTH_MAX)
		return -EFBIG;

	*chunk = (struct chunk){
		.late = late_of(opt->flags),
		.end = opt->length,
		.start_ns = now_ns,
		.cookie = opt->cookie,
		.alpha_milli = opt->alpha_milli,
	};
	return absolute_deadline(opt, now_ns, &chunk->deadline_ns);
}

/**
 * sockopt_add_chunk() - queue a chunk, as the socket option and netlink do
 * @sk: an MPTCP socket
 * @opt: the chunk, nothing of it checked
 *
 * Context: msk owned; does not sleep.
 * Return: 0 or an errno of mptcp_dpa(7).
 */
int sockopt_add_chunk(struct sock *sk, const struct mptcp_dpa_chunk *opt)
{
	struct chunk chunk;
	struct conn *c;
	int err;

	err = parse_chunk(opt, &chunk);
	if (!err)
		err = check_socket(sk);
	if (err)
		return err;
	c = conn_get_or_create(sk);
	if (!c)
		return -ENOMEM;
	view_refresh(c);
	if (c->stream.interval_ns)
		return -EBUSY;
	err = chunk_queue_add(&c->queue, &chunk,
			      c->state.written + view_syn_bytes(c),
			      conn_chunks_max(c));
	if (!err) {
		stat_inc(sock_net(sk), DPA_STAT_CHUNKS_SET);
		room_make(c, false);
		tick_soon(c);
	}
	return err;
}

static int set_chunk(struct sock *sk, const void *val, size_t len)
{
	struct mptcp_dpa_chunk opt;
	int err;

	err = copy_growable(&opt, sizeof(opt), MPTCP_DPA_CHUNK_SIZE_V1, val,
			    len);
	return err ?: sockopt_add_chunk(sk, &opt);
}

static int check_stream(const struct mptcp_dpa_stream *opt)
{
	if ((opt->flags & ~MPTCP_DPA_CHUNK_LATE_MASK) ||
	    !valid_alpha(opt->alpha_milli))
		return -EINVAL;
	if (!opt->interval_ns)
		return opt->deadline_ns || opt->expected_bytes ? -EINVAL : 0;
	if (opt->interval_ns < STREAM_INTERVAL_MIN_NS ||
	    opt->interval_ns > STREAM_INTERVAL_MAX_NS)
		return -ERANGE;
	if (!opt->deadline_ns)
		return -ETIME;
	if (opt->deadline_ns > STREAM_DEADLINE_MAX_NS)
		return -EOVERFLOW;
	return opt->expected_bytes > CHUNK_LENGTH_MAX ? -EFBIG : 0;
}

/* An interval that runs ends with the option; chunks of it stay. */
static void start_stream(struct conn *c, const struct mptcp_dpa_stream *opt)
{
	struct chunk *last = chunk_queue_last(&c->queue);

	if (last && last->open)
		last->open = false;
	c->stream = (struct stream){
		.interval_ns = opt->interval_ns,
		.deadline_ns = opt->deadline_ns,
		.expected = opt->expected_bytes,
		.written = c->state.written,
		.alpha_milli = opt->alpha_milli,
		.late = late_of(opt->flags),
	};
}

static int set_stream(struct sock *sk, const void *val, size_t len)
{
	struct mptcp_dpa_stream opt;
	struct conn *c;
	int err;

	err = copy_growable(&opt, sizeof(opt), MPTCP_DPA_STREAM_SIZE_V1, val,
			    len);
	if (!err)
		err = check_stream(&opt);
	if (!err)
		err = check_socket(sk);
	if (err)
		return err;
	c = conn_get_or_create(sk);
	if (!c)
		return -ENOMEM;
	view_refresh(c);
	/* chunks that the application marked come first, to their end */
	if (!c->stream.interval_ns && c->queue.count)
		return -EBUSY;
	start_stream(c, &opt);
	room_make(c, false);
	tick_soon(c);
	return 0;
}

static int set_pref(struct sock *sk, const void *val, size_t len)
{
	struct net *net = sock_net(sk);
	struct mptcp_dpa_pref opt;
	struct pref_list *prefs;
	bool privileged;
	struct conn *c;
	int err;

	err = copy_growable(&opt, sizeof(opt), MPTCP_DPA_PREF_SIZE_V1, val,
			    len);
	if (err)
		return err;
	c = conn_get_or_create(sk);
	if (!c)
		return -ENOMEM;
	privileged = ns_capable_noaudit(net->user_ns, CAP_NET_ADMIN);
	if (!privileged && path_undercut(c, &opt))
		return -EPERM;
	prefs = conn_prefs(c);
	if (!prefs)
		return -ENOMEM;
	err = pref_change(prefs, net, &opt, privileged);
	if (!err) {
		path_forget_costs(c);
		tick_soon(c);
	}
	return err;
}

static int set_eventfd(struct sock *sk, const void *val, size_t len)
{
	struct eventfd_ctx *ctx = NULL;
	struct conn *c;
	int fd;

	if (len != sizeof(fd))
		return -EINVAL;
	memcpy(&fd, val, sizeof(fd));
	if (fd != -1) {
		ctx = eventfd_ctx_fdget(fd);
		if (IS_ERR(ctx))
			return PTR_ERR(ctx);
	}
	c = conn_get_or_create(sk);
	if (!c) {
		if (ctx)
			eventfd_ctx_put(ctx);
		return -ENOMEM;
	}
	swap(c->eventfd, ctx);
	if (ctx)
		eventfd_ctx_put(ctx);
	return 0;
}

static int get_info(struct sock *sk, void *val, size_t len)
{
	struct conn *c = conn_find(sk);
	struct mptcp_dpa_info info;

	if (len < offsetofend(struct mptcp_dpa_info, chunks_queued))
		return -EINVAL;
	if (c)
		info_fill(&info, c);
	else
		info_init(&info);
	len = min(len, sizeof(info));
	memcpy(val, &info, len);
	return len;
}

/* As many preferences as fit; without any, one of kind 0. */
static int get_pref(struct sock *sk, void *val, size_t len)
{
	struct conn *c = conn_find(sk);
	struct mptcp_dpa_pref pref;
	size_t at = 0;
	int i;

	if (len < sizeof(pref))
		return -EINVAL;
	for (i = 0; c && c->prefs && i < MPTCP_DPA_PREFS_MAX; i++) {
		if (!pref_read(c->prefs, i, &pref))
			continue;
		if (at + sizeof(pref) > len)
			break;
		memcpy(val + at, &pref, sizeof(pref));
		at += sizeof(pref);
	}
	if (!at) {
		/* the kernel takes a length of 0 for "untouched" */
		memset(val, 0, sizeof(pref));
		at = sizeof(pref);
	}
	return at;
}

static int set_sockoption(struct sock *sk, int name, const void *val, size_t len)
{
	switch (name) {
	case MPTCP_DPA_CHUNK:
		return set_chunk(sk, val, len);
	case MPTCP_DPA_STREAM:
		return set_stream(sk, val, len);
	case MPTCP_DPA_PREF:
		return set_pref(sk, val, len);
	case MPTCP_DPA_EVENTFD:
		return set_eventfd(sk, val, len);
	}
	return -ENOPROTOOPT;
}

static int get_sockoption(struct sock *sk, int name, void *val, size_t len)
{
	switch (name) {
	case MPTCP_DPA_INFO:
		return get_info(sk, val, len);
	case MPTCP_DPA_PREF:
		return get_pref(sk, val, len);
	}
	return -ENOPROTOOPT;
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
	int err = sockopt_check_scheduler(ctx->sk);

	if (err)
		return err;
	if (ctx->optlen > ctx->optval_end - ctx->optval)
		return -E2BIG;
	err = set_sockoption(ctx->sk, ctx->optname, ctx->optval, value_size(ctx));
	if (!err)
		ctx->optlen = -1;
	return err;
}

int kf_getsockopt(struct bpf_sockopt *prog_ctx)
{
	struct bpf_sockopt_kern *ctx = (void *)prog_ctx;
	int ret = sockopt_check_scheduler(ctx->sk);

	if (ret)
		return ret;
	ret = get_sockoption(ctx->sk, ctx->optname, ctx->optval, value_size(ctx));
	if (ret < 0)
		return ret;
	ctx->optlen = ret;
	return 0;
}
