// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/inet_diag.h>
#include <linux/rcupdate.h>
#include <net/tcp.h>

#include "conn.h"
#include "event.h"
#include "look.h"
#include "msk.h"
#include "path.h"
#include "share.h"
#include "symbols.h"

#include "pick.h"

static void set_flag(struct dpa_path *row, u16 flag, bool on)
{
	if (on)
		row->flags |= flag;
	else
		row->flags &= ~flag;
}

/*
 * BBR's least round trip, as it tells ss(8) and the like; 0: congestion control
 * is not BBR. (It may be changed at any time, and its module unloaded.) @paces: it
 * says itself how fast it sends, as BBR does.
 */
static u32 bbr_floor_us(const struct sock *ssk, bool *paces)
{
	const struct tcp_congestion_ops *ops;
	union tcp_cc_info info;
	u32 floor_us = 0;
	int attr;

	*paces = false;
	rcu_read_lock();
	/* a subflow that was destroyed may be listed still; nothing holds that module then */
	if (!inet_csk(ssk)->icsk_ca_initialized)
		goto out;
	ops = READ_ONCE(inet_csk(ssk)->icsk_ca_ops);
	*paces = ops->cong_control;
	if (!strcmp(ops->name, "bbr") && ops->get_info &&
	    ops->get_info((struct sock *)ssk, BIT(INET_DIAG_BBRINFO - 1), &attr,
			  &info) &&
	    attr == INET_DIAG_BBRINFO)
		floor_us = info.bbr.bbr_min_rtt;
out:
	rcu_read_unlock();
	return floor_us;
}

/* bytes of a quota that a connection takes at a time; a fragment is less than its most */
#define GRANT	(2U * DPA_FRAGMENT_MAX - 1)

/*
 * What of a quota the path can get, as long as dpa_is_spent() keeps a fragment
 * back; U32_MAX: there is no end.
 */
static u32 sendable(const struct dpa_state *st, u64 left, u32 granted)
{
	if (left >= U32_MAX)
		return U32_MAX;
	left += granted;
	if (left < (u64)st->unit + DPA_FRAGMENT_MAX)
		return 0;
	return min_t(u64, left - DPA_FRAGMENT_MAX, U32_MAX);
}

/* Takes what a path in use needs next, or gives back what one has left. */
static void refresh_quota(struct conn *c, int i)
{
	const struct dpa_state *st = &c->state;
	struct conn_path *path = &c->path[i];
	struct dpa_path *row = &c->state.path[i];
	bool reached = false;
	u64 left;

	if (!path->quota) {
		row->flags &= ~DPA_PATH_QUOTA;
		return;
	}
	/* who has nothing on its way, nor to send, keeps nothing from others */
	if (!conn_steers(c) || (row->flags & DPA_PATH_HELD) ||
	    !(row->flags & DPA_PATH_ACTIVE) || st->acked >= st->written) {
		quota_give_back(path->quota, path->granted);
		path->granted = 0;
	} else if (path->granted < GRANT) {
		path->granted += quota_take(path->quota, GRANT - path->granted,
					    st->now_ns, &reached);
	}
	left = quota_left(path->quota, st->now_ns);
	row->flags |= DPA_PATH_QUOTA;
	row->granted = path->granted;
	row->quota = sendable(st, left, path->granted);
	/* known or not, it carries nothing now */
	if (!row->quota)
		row->flags &= ~DPA_PATH_ACTIVE;
	if (reached)
		event_path(c, MPTCP_DPA_CMD_QUOTA_REACHED, row->subflow_id);
}

/* What the peer has beyond a hole; both ends of the stream count it as there. */
static u32 sacked(const struct tcp_sock *tp)
{
	return tp->sacked_out * tp->mss_cache;
}

/* congestion controls that measure an empty path go down to this window */
#define PROBE_CWND	4

/* Does the peer take nothing of what waits? */
static bool is_shut(const struct tcp_sock *tp)
{
	return tp->write_seq != tp->snd_nxt && tp->snd_wnd < tp->mss_cache;
}

/**
 * look_is_starved() - is all that a path was given on its way, with room in its
 * window for more?
 * @tp: its TCP socket
 *
 * TCP's own mark of that is set by path_tell_limited() alone, and late.
 *
 * Context: msk lock.
 */
bool look_is_starved(const struct tcp_sock *tp)
{
	return tp->write_seq - tp->snd_nxt < tp->mss_cache &&
	       tcp_packets_in_flight(tp) < tp->snd_cwnd;
}

/**
 * look_is_grounded() - has what a path has to send failed to leave the host?
 * @ssk: its TCP socket
 *
 * Its interface is down, say, or there is no route. TCP takes that for a window that is
 * closed, and tries again by the timer for those.
 *
 * Context: any; what it reads may change.
 */
bool look_is_grounded(const struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	return !tp->packets_out && tp->write_seq != tp->snd_nxt && !is_shut(tp) &&
	       inet_csk(ssk)->icsk_probes_out;
}

static u32 arrived(const struct tcp_sock *tp)
{
	return tp->bytes_acked + sacked(tp);
}

/* What has arrived, and when. */
static void refresh_acked(struct dpa_path *row, const struct tcp_sock *tp)
{
	row->acked = arrived(tp);
	row->acked_tick = dpa_tick(tp->delivered_mstamp * NSEC_PER_USEC);
}

/*
 * A path is empty. What has arrived by then is kept until the scheduler looks: it
 * knows by that how long the path took.
 */
static void note_rest(struct dpa_path *row, const struct tcp_sock *tp)
{
	if (!(row->flags & DPA_PATH_RESTED))
		refresh_acked(row, tp);
	row->flags |= DPA_PATH_RESTED;
}

/* What changes with every burst. */
static __always_inline void refresh_bytes(struct conn *c, int i,
					  const struct mptcp_subflow_context *sf,
					  const struct sock *ssk, bool count)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	struct dpa_path *row = &c->state.path[i];
	struct conn_path *path = &c->path[i];
	u32 given = READ_ONCE(tp->write_seq);

	if (given != path->given) {
		/* it begins anew, by chance, when a socket connects that had a row before */
		if (count)
			path_spend(c, i, min(given - path->given, subflow_given(sf)));
		path->given = given;
	}
	row->behind = dpa_minus(given - tp->snd_una, sacked(tp));
	if (given == tp->snd_una)
		note_rest(row, tp);
	else if (look_is_starved(tp) || is_shut(tp))
		row->flags |= DPA_PATH_LIMITED;
}

/* What it measured first, TCP had measured before. */
static void refresh_floor(struct conn_path *path, struct dpa_path *row,
			  const struct sock *ssk, u32 floor_us)
{
	set_flag(row, DPA_PATH_PAUSES, floor_us);
	if (floor_us != path->floor_us)
		path->floor_at = path->floor_us ? tcp_jiffies32 :
						  tcp_sk(ssk)->rtt_min.s[0].t;
	path->floor_us = floor_us;
	row->rtt_age_ms = min(jiffies_to_msecs(tcp_jiffies32 - path->floor_at),
			      U16_MAX);
}

/* The window after idle time: half for each RTO, not less than the first. */
static u32 cwnd_after_idle(const struct sock *ssk, u32 idle)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	u32 halvings = idle / max(inet_csk(ssk)->icsk_rto, 1U);

	return max(tp->snd_cwnd >> min(halvings, 31U),
		   min(tp->snd_cwnd, (u32)TCP_INIT_CWND));
}

/*
 * BBR's window is no slow start's: its pacing rate says how fast it is. RFC 2861
 * says what idle time does to others.
 */
static u32 slow_start_window(const struct sock *ssk, bool paces)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	u32 idle = tcp_jiffies32 - tp->lsndtime, cwnd = tp->snd_cwnd;

	if (paces)
		return 0;
	if (!tp->packets_out && idle > inet_csk(ssk)->icsk_rto &&
	    READ_ONCE(sock_net(ssk)->ipv4.sysctl_tcp_slow_start_after_idle))
		cwnd = cwnd_after_idle(ssk, idle);
	else if (!tcp_in_slow_start(tp))
		return 0;
	return min_t(u64, (u64)cwnd * tp->mss_cache, U32_MAX);
}

/* The rest of what a look at the path asks for. */
static void refresh_row(struct dpa_path *row, const struct sock *ssk, bool paces,
			bool count)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	row->rtt_us = tcp_min_rtt(tp);
	row->srtt_us = tp->srtt_us >> 3;
	row->fresh = dpa_rtt_units(tp->rack.rtt_us);
	if (!count || !(row->flags & DPA_PATH_RESTED))
		refresh_acked(row, tp);
	row->flight = dpa_minus(tp->snd_nxt - tp->snd_una, sacked(tp));
	row->pacing = min_t(u64, READ_ONCE(ssk->sk_pacing_rate), U32_MAX);
	row->window = slow_start_window(ssk, paces);
	if (row->losses != (u16)tp->lost)
		row->flags |= DPA_PATH_LOST;
	row->losses = tp->lost;
	set_flag(row, DPA_PATH_BUSY, tp->write_seq != tp->snd_una);
	set_flag(row, DPA_PATH_TOLD, tp->app_limited);
	set_flag(row, DPA_PATH_PAUSING,
		 tp->snd_cwnd <= PROBE_CWND &&
		 inet_csk(ssk)->icsk_ca_state == TCP_CA_Open);
}

/* Returns the rows that are somebody's, by their bits; @lack: who else there is has none. */
static unsigned long refresh_all(struct conn *c, bool count, bool *lack)
{
	struct dpa_state *st = &c->state;
	struct mptcp_subflow_context *sf;
	unsigned long found = 0;
	u32 least = U32_MAX;
	int next = 0;

	*lack = false;
	msk_for_each_subflow(msk_of(c->sk), sf) {
		const struct sock *ssk = subflow_ssk(sf);
		int i = path_row(c, sf, next);
		u32 floor_us;
		bool paces;

		if (i < 0) {
			*lack = true;
			continue;
		}
		next = i + 1;
		found |= BIT(i);
		set_flag(&st->path[i], DPA_PATH_ACTIVE,
			 kernel_fn(mptcp_subflow_active)(sf));
		refresh_bytes(c, i, sf, ssk, count);
		refresh_quota(c, i);
		floor_us = bbr_floor_us(ssk, &paces);
		refresh_floor(&c->path[i], &st->path[i], ssk, floor_us);
		refresh_row(&st->path[i], ssk, paces, count);
		/* not one whose quota is spent: what costs more is the cheapest then */
		if (st->path[i].flags & DPA_PATH_ACTIVE)
			least = min(least, st->path[i].cost);
	}
	st->least_cost = least;
	return found;
}

/* Rows whose subflows are gone; was there one? */
static bool clear_others(struct conn *c, unsigned long found)
{
	int i;

	if (hweight_long(found) == c->subflows)
		return false;
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (c->path[i].sf && !(found & BIT(i)))
			path_clear(c, i);
	return true;
}

/**
 * look_refresh() - bring rows up to date, find the least cost, and count what
 * costlier paths got
 * @c: the connection
 * @count: a chunk was in force since the last call
 *
 * Context: msk lock; does not sleep.
 */
void look_refresh(struct conn *c, bool count)
{
	unsigned long found;
	bool lack;

	found = refresh_all(c, count, &lack);
	lack &= clear_others(c, found);
	/* what the last pick put on its path is counted, and it is not to be again */
	c->picked = 0;
	if (lack)
		refresh_all(c, count, &lack);
}

/**
 * look_count() - count what paths were given since the last look, and no more
 * @c: the connection, which is about to end
 *
 * Context: msk lock; does not sleep.
 */
void look_count(struct conn *c)
{
	struct dpa_state *st = &c->state;
	struct mptcp_subflow_context *sf;

	if (!conn_steers(c))
		return;
	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i < 0)
			continue;
		refresh_bytes(c, i, sf, subflow_ssk(sf), true);
		if (st->last == i + 1)
			st->last = 0;
	}
	/* its subflow is gone */
	path_spend_picked(c);
}

/**
 * look_touch() - bring up to date what changes with every burst
 * @c: the connection; a chunk was in force since the last refresh
 * @i: a row
 * @sf: its subflow
 * @ssk: and the TCP socket of that
 *
 * Context: msk lock; does not sleep.
 * Return: false if the path may be used and might not when the scheduler looked
 * at it, or the other way.
 */
bool look_touch(struct conn *c, int i, struct mptcp_subflow_context *sf,
		const struct sock *ssk)
{
	struct dpa_path *row = &c->state.path[i];

	set_flag(row, DPA_PATH_ACTIVE, kernel_fn(mptcp_subflow_active)(sf));
	refresh_bytes(c, i, sf, ssk, true);
	if (row->flags & DPA_PATH_QUOTA)
		refresh_quota(c, i);
	return dpa_is_usable(row) == row->usable && !dpa_has_rested(row);
}

/* a connection that was not looked at for so long says nothing of that time */
#define LOOK_MOST_MS	1000

/*
 * What it saw of a path in so long. Of more than a period it tells the mean, as one that
 * was busy for a period: it is no more than one connection.
 */
static struct share_seen seen_of(const struct dpa_path *row, const struct sock *ssk,
				 u32 bytes, u32 ms)
{
	u32 most_ms = min_t(u32, ms, SHARE_PERIOD_MS);

	return (struct share_seen){
		.bytes = ms ? div_u64((u64)bytes * most_ms, ms) : bytes,
		.busy_ms = most_ms,
		.rtt_us = row->rtt_us,
		.srtt_us = tcp_sk(ssk)->srtt_us >> 3,
	};
}

/**
 * look_share() - tell other connections what paths brought since they were told last,
 * and learn from them what each gets
 * @c: the connection, which is about to be brought up to date
 *
 * By the timer alone: a decision has no time for it.
 *
 * Context: msk lock; does not sleep.
 */
void look_share(struct conn *c)
{
	u32 now_ms = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	u32 ago_ms = now_ms - c->told_ms;
	struct mptcp_subflow_context *sf;

	c->shared = false;
	msk_for_each_subflow(msk_of(c->sk), sf) {
		const struct sock *ssk = subflow_ssk(sf);
		int i = path_find(c, sf);
		struct dpa_path *row;
		struct share_seen seen = {};
		u32 bytes;

		if (i < 0)
			continue;
		row = &c->state.path[i];
		bytes = arrived(tcp_sk(ssk)) - c->path[i].told;
		if (c->path[i].told_busy && ago_ms <= LOOK_MOST_MS && bytes <= S32_MAX)
			seen = seen_of(row, ssk, bytes, ago_ms);
		c->path[i].told += bytes;
		c->path[i].told_busy = tcp_sk(ssk)->packets_out;
		row->share = min(share_tell(ssk, &seen, now_ms) / DPA_SHARE_UNIT,
				 (u32)U16_MAX);
		c->shared |= row->share > 0;
	}
	c->told_ms = now_ms;
}

/**
 * look_watch() - get to know paths while nobody asks for bytes
 * @c: the connection, refreshed
 *
 * A chunk that is all with its paths asks for no decision, and that may be most
 * of what a fast path shows of itself.
 *
 * Context: msk lock; does not sleep.
 */
void look_watch(struct conn *c)
{
	struct dpa_state *st = &c->state;
	int i;

	/* a scheduler may have written anything to @rows */
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		dpa_watch(&st->path[i], st->now_ns);
}
