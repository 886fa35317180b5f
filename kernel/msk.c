// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accessors of mptcp_sock and mptcp_subflow_context. The only unit that is
 * compiled against vmlinux.h, so that bit fields and offsets are those of the
 * kernel the module is built for.
 */
#include "vmlinux.h"
#include "compat.h"
#include "msk.h"

#define NULL	((void *)0)
#define READ_FIELD(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_FIELD(x, v)	(*(volatile typeof(x) *)&(x) = (v))

#define FIELD(t, m) {							\
	.type = #t, .member = #m,					\
	.offset = __builtin_offsetof(struct t, m),			\
	.size = sizeof(((struct t *)0)->m),				\
}
#define FLAG(t, m) {							\
	.type = #t, .member = #m,					\
	.size = sizeof(struct t),					\
	.flag = &(const struct t){ .m = 1 },				\
}
#define SIZE(t)		{ .type = #t, .size = sizeof(struct t) }

const struct msk_field msk_fields[] = {
	SIZE(mptcp_sock),
	SIZE(mptcp_subflow_context),
	SIZE(mptcp_sched_ops),
#define CALLBACK(name)	FIELD(mptcp_sched_ops, name),
	COMPAT_SCHED_CALLBACKS(CALLBACK)
	FIELD(mptcp_sched_ops, name),
	FIELD(mptcp_sched_ops, owner),
	FIELD(mptcp_sched_ops, init),
	FIELD(mptcp_sched_ops, release),
	FIELD(mptcp_sock, write_seq),
	FIELD(mptcp_sock, bytes_sent),
	FIELD(mptcp_sock, snd_nxt),
	FIELD(mptcp_sock, snd_una),
	FIELD(mptcp_sock, wnd_end),
	FIELD(mptcp_sock, snd_burst),
	FIELD(mptcp_sock, timer_ival),
	FIELD(mptcp_sock, last_ack_recv),
	FIELD(mptcp_sock, token),
	FIELD(mptcp_sock, flags),
	FIELD(mptcp_sock, snd_data_fin_enable),
	FIELD(mptcp_sock, csum_enabled),
	FIELD(mptcp_sock, mpc_endpoint_id),
	FIELD(mptcp_sock, conn_list),
	FIELD(mptcp_sock, first_pending),
	FIELD(mptcp_sock, rtx_queue),
	FIELD(mptcp_sock, recovery),
	FIELD(mptcp_sock, recovery_snd_nxt),
	FIELD(mptcp_sock, first),
	FIELD(mptcp_sock, sched),
	FIELD(mptcp_subflow_context, node),
	FIELD(mptcp_subflow_context, avg_pacing_rate),
	FIELD(mptcp_subflow_context, rel_write_seq),
	FIELD(mptcp_subflow_context, scheduled),
	FIELD(mptcp_subflow_context, local_id),
	FIELD(mptcp_subflow_context, stale_count),
	FIELD(mptcp_subflow_context, subflow_id),
	FIELD(mptcp_subflow_context, tcp_sock),
	FIELD(mptcp_subflow_context, conn),
	FLAG(mptcp_subflow_context, request_bkup),
	FLAG(mptcp_subflow_context, backup),
#ifdef COMPAT_STALE_BY_SCHEDULER
	FLAG(mptcp_subflow_context, request_join),
	FLAG(mptcp_subflow_context, fully_established),
#endif
	FLAG(mptcp_subflow_context, send_mp_prio),
	SIZE(mptcp_data_frag),
	FIELD(mptcp_data_frag, list),
	FIELD(mptcp_data_frag, data_seq),
	FIELD(mptcp_data_frag, data_len),
	FIELD(mptcp_data_frag, already_sent),
};

const unsigned int msk_fields_count =
	sizeof(msk_fields) / sizeof(msk_fields[0]);

const unsigned int msk_offset_snd_burst =
	__builtin_offsetof(struct mptcp_sock, snd_burst);
const unsigned int msk_offset_avg_pacing_rate =
	__builtin_offsetof(struct mptcp_subflow_context, avg_pacing_rate);

struct mptcp_sock *msk_of(struct sock *sk)
{
	return (struct mptcp_sock *)sk;
}

struct sock *msk_sock(struct mptcp_sock *msk)
{
	return (struct sock *)msk;
}

/*
 * bytes_sent counts payload up to snd_nxt, so it anchors sequence numbers in
 * the stream whatever the initial number was. A DATA_FIN takes a number, too.
 * connect(AF_UNSPEC) sets bytes_sent back and drops the fragments, but leaves the
 * numbers until the next connect().
 */
u64 msk_written(const struct mptcp_sock *msk)
{
	if (!msk->first_pending)
		return msk->bytes_sent;
	return msk->bytes_sent + (msk->write_seq - msk->snd_nxt) -
	       (msk->snd_data_fin_enable && msk->write_seq != msk->snd_nxt);
}

u64 msk_sent(const struct mptcp_sock *msk)
{
	return msk->bytes_sent;
}

/* Once sent, the DATA_FIN is inside snd_nxt but not in bytes_sent. */
static u64 next_byte(const struct mptcp_sock *msk)
{
	return msk->snd_nxt -
	       (msk->snd_data_fin_enable && msk->snd_nxt == msk->write_seq);
}

u64 msk_acked(const struct mptcp_sock *msk)
{
	s64 unacked = next_byte(msk) - READ_FIELD(msk->snd_una);

	if (unacked <= 0)
		return msk->bytes_sent;
	return (u64)unacked < msk->bytes_sent ? msk->bytes_sent - unacked : 0;
}

struct mptcp_sched_ops *msk_sched(const struct mptcp_sock *msk)
{
	return msk->sched;
}

struct sock *msk_first(const struct mptcp_sock *msk)
{
	return READ_FIELD(msk->first);
}

_Bool msk_fell_back(const struct mptcp_sock *msk)
{
	return READ_FIELD(msk->flags) & (1UL << COMPAT_MPTCP_FALLBACK_DONE);
}

unsigned long *msk_flags(struct mptcp_sock *msk)
{
	return &msk->flags;
}

_Bool msk_data_pending(const struct mptcp_sock *msk)
{
	return msk->first_pending;
}

/* The fragment after one in the list of those not acknowledged; NULL: none. */
static struct mptcp_data_frag *next_frag(const struct mptcp_sock *msk,
					 const struct list_head *at)
{
	if (at->next == &msk->rtx_queue)
		return NULL;
	return (void *)at->next -
	       __builtin_offsetof(struct mptcp_data_frag, list);
}

/* Among the fragments to be sent again there may be some that are not. */
static const struct mptcp_data_frag *next_unsent(const struct mptcp_sock *msk)
{
	const struct mptcp_data_frag *frag = msk->first_pending;

	while (frag && frag->data_len == frag->already_sent)
		frag = next_frag(msk, &frag->list);
	return frag;
}

/* The rest of a fragment is sent on the subflow that was picked for it. */
static u32 next_unit(const struct mptcp_sock *msk)
{
	const struct mptcp_data_frag *frag = next_unsent(msk);

	return frag ? frag->data_len - frag->already_sent : 0;
}

/* What MPTCP's own timer sends again, in one go: with checksums whole fragments. */
u32 msk_oldest(const struct mptcp_sock *msk)
{
	const struct mptcp_data_frag *frag = next_frag(msk, &msk->rtx_queue);

	if (!frag)
		return 0;
	return READ_FIELD(msk->csum_enabled) ? frag->data_len : frag->already_sent;
}

/* Bytes that were sent and wait to be sent again. */
u64 msk_again(const struct mptcp_sock *msk)
{
	const struct mptcp_data_frag *frag = msk->first_pending;
	u64 bytes = 0;

	while (frag && (s64)(msk->snd_nxt - frag->data_seq) > 0) {
		u64 sent = msk->snd_nxt - frag->data_seq;

		if (sent > frag->data_len)
			sent = frag->data_len;
		if (sent > frag->already_sent)
			bytes += sent - frag->already_sent;
		frag = next_frag(msk, &frag->list);
	}
	return bytes;
}

/* The sequence number of a position in the stream that was sent. */
u64 msk_chunk_seq(const struct mptcp_sock *msk, u64 position)
{
	return next_byte(msk) - (msk->bytes_sent - position);
}

/*
 * Has what lies between two sequence numbers sent again, and what follows in the
 * fragments that it is in: of a fragment the kernel knows only how much was
 * sent. When a subflow closes it does so itself, with whole fragments. Needs the
 * msk owned. *@at is the fragment that an earlier call ended at, or NULL: who asks for
 * stretch after stretch goes through the queue once.
 */
void msk_resend(struct mptcp_sock *msk, u64 from, u64 to,
		struct mptcp_data_frag **at)
{
	struct mptcp_data_frag *frag = *at, *first = NULL;
	_Bool any = 0;
	u32 before;

	if (!frag || (s64)(from - frag->data_seq) < 0)
		frag = next_frag(msk, &msk->rtx_queue);
	for (; frag; frag = next_frag(msk, &frag->list)) {
		if ((s64)(msk->snd_nxt - frag->data_seq) <= 0 ||
		    (s64)(to - frag->data_seq) <= 0)
			break;
		*at = frag;
		/* the kernel goes on from there, in order */
		if (frag == msk->first_pending)
			first = first ?: frag;
		if ((s64)(frag->data_seq + frag->already_sent - from) <= 0)
			continue;
		first = first ?: frag;
		before = (s64)(from - frag->data_seq) > 0 ?
			 from - frag->data_seq : 0;
		any |= frag->already_sent != before;
		frag->already_sent = before;
	}
	if (!any)
		return;
	if (!msk->first_pending ||
	    (s64)(msk->first_pending->data_seq - first->data_seq) > 0)
		msk->first_pending = first;
	msk->recovery_snd_nxt = msk->snd_nxt;
	msk->recovery = 1;
	msk->snd_burst = 0;
}

u64 msk_window_left(const struct mptcp_sock *msk)
{
	s64 left = READ_FIELD(msk->wnd_end) - msk->snd_nxt;

	return left > 0 ? left : 0;
}

/* The sequence number after the last that the peer takes. */
u64 msk_window_end(const struct mptcp_sock *msk)
{
	return READ_FIELD(msk->wnd_end);
}

/* Needs the msk's spinlock. */
void msk_set_window_end(struct mptcp_sock *msk, u64 end)
{
	WRITE_FIELD(msk->wnd_end, end);
}

/* Of the byte that is sent next; as next_unit() has it. */
u64 msk_next_seq(const struct mptcp_sock *msk)
{
	const struct mptcp_data_frag *frag = next_unsent(msk);

	return frag ? frag->data_seq + frag->already_sent : msk->snd_nxt;
}

/* What of it changes with every burst, in one go. */
void msk_positions(const struct mptcp_sock *msk, struct msk_positions *at)
{
	at->written = msk_written(msk);
	at->sent = msk_sent(msk);
	at->acked = msk_acked(msk);
	at->window = msk_window_left(msk);
	at->unit = next_unit(msk);
}

u8 msk_first_endpoint(const struct mptcp_sock *msk)
{
	return msk->mpc_endpoint_id;
}

u32 msk_last_ack(const struct mptcp_sock *msk)
{
	return READ_FIELD(msk->last_ack_recv);
}

u32 msk_token(const struct mptcp_sock *msk)
{
	return READ_FIELD(msk->token);
}

void msk_set_burst(struct mptcp_sock *msk, int bytes)
{
	msk->snd_burst = bytes;
}

void msk_set_timer(struct mptcp_sock *msk, long ticks)
{
	msk->timer_ival = ticks;
}

struct mptcp_subflow_context *
msk_next_subflow(const struct mptcp_sock *msk,
		 const struct mptcp_subflow_context *prev)
{
	const struct list_head *at = prev ? &prev->node : &msk->conn_list;
	const struct list_head *next = READ_FIELD(at->next);

	if (next == &msk->conn_list)
		return NULL;
	return (void *)next -
	       __builtin_offsetof(struct mptcp_subflow_context, node);
}

struct sock *subflow_ssk(const struct mptcp_subflow_context *sf)
{
	return sf->tcp_sock;
}

struct sock *subflow_msk(const struct mptcp_subflow_context *sf)
{
	return sf->conn;
}

u32 subflow_number(const struct mptcp_subflow_context *sf)
{
	return sf->subflow_id;
}

int subflow_local_id(const struct mptcp_subflow_context *sf)
{
	return READ_FIELD(sf->local_id);
}

_Bool subflow_scheduled(const struct mptcp_subflow_context *sf)
{
	return READ_FIELD(sf->scheduled);
}

void subflow_set_scheduled(struct mptcp_subflow_context *sf, _Bool on)
{
	WRITE_FIELD(sf->scheduled, on);
}

_Bool subflow_request_bkup(const struct mptcp_subflow_context *sf)
{
	return sf->request_bkup;
}

/* The peer's word on our sending; never written here. */
_Bool subflow_peer_backup(const struct mptcp_subflow_context *sf)
{
	return sf->backup;
}

#ifdef COMPAT_STALE_BY_SCHEDULER
_Bool subflow_joined(const struct mptcp_subflow_context *sf)
{
	return !sf->request_join || sf->fully_established;
}
#endif

/* Retransmissions in a row without a sign of life. */
unsigned int subflow_stale_count(const struct mptcp_subflow_context *sf)
{
	return sf->stale_count;
}

/*
 * The next byte's number on the subflow, as mappings have it; tcp_sock::write_seq is
 * the same one's sequence number. Both change with the msk lock and the subflow's held;
 * who compares them needs the subflow's.
 */
u32 subflow_next_byte(const struct mptcp_subflow_context *sf)
{
	return sf->rel_write_seq;
}

/* The payload that a subflow was given so far; wraps. Mappings count from 1. */
u32 subflow_given(const struct mptcp_subflow_context *sf)
{
	/* 0: it is not connected yet */
	return (sf->rel_write_seq ?: 1) - 1;
}

unsigned long subflow_avg_pacing(const struct mptcp_subflow_context *sf)
{
	return sf->avg_pacing_rate;
}

void subflow_set_avg_pacing(struct mptcp_subflow_context *sf,
			    unsigned long rate)
{
	sf->avg_pacing_rate = rate;
}

void subflow_set_prio(struct mptcp_subflow_context *sf, _Bool backup,
		      _Bool signal)
{
	sf->request_bkup = backup;
	if (signal)
		sf->send_mp_prio = 1;
}
