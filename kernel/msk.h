/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The private structures of net/mptcp, behind functions.
 *
 * msk.c alone sees their layout, from the BTF of the kernel that the module is
 * built for; msk_fields[] lists the fields it touches for layout.c to compare
 * with the kernel that runs. Kernel headers and vmlinux.h exclude each other, so
 * this header uses neither.
 */
#ifndef _MPTCP_DPA_MSK_H
#define _MPTCP_DPA_MSK_H

struct mptcp_data_frag;
struct mptcp_sched_ops;
struct mptcp_sock;
struct mptcp_subflow_context;
struct sock;

/* one field of a structure of the kernel that the module was built for */
struct msk_field {
	const char	*type;
	const char	*member;
	unsigned int	offset;		/* bytes */
	unsigned int	size;		/* bytes */
	const void	*flag;		/* of a bit: its structure, with just that set */
};

/* the structures' own sizes are rows without a member */
extern const struct msk_field msk_fields[];
extern const unsigned int msk_fields_count;

extern const unsigned int msk_offset_snd_burst;
extern const unsigned int msk_offset_avg_pacing_rate;

struct mptcp_sock *msk_of(struct sock *sk);
struct sock *msk_sock(struct mptcp_sock *msk);

/*
 * Positions in the stream of payload bytes, from 0 at connect(). All need the
 * msk lock (owned, or its spinlock held with no owner).
 */
struct msk_positions {
	unsigned long long written;
	unsigned long long sent;
	unsigned long long acked;
	unsigned long long window;	/* bytes after @sent that the peer takes */
	unsigned int	unit;		/* what one pick sends at least */
};

void msk_positions(const struct mptcp_sock *msk, struct msk_positions *at);
unsigned long long msk_written(const struct mptcp_sock *msk);
unsigned long long msk_sent(const struct mptcp_sock *msk);
unsigned long long msk_acked(const struct mptcp_sock *msk);

struct mptcp_sched_ops *msk_sched(const struct mptcp_sock *msk);
struct sock *msk_first(const struct mptcp_sock *msk);
_Bool msk_fell_back(const struct mptcp_sock *msk);
unsigned long *msk_flags(struct mptcp_sock *msk);
_Bool msk_data_pending(const struct mptcp_sock *msk);
unsigned long long msk_again(const struct mptcp_sock *msk);
u32 msk_oldest(const struct mptcp_sock *msk);
unsigned long long msk_window_left(const struct mptcp_sock *msk);
unsigned long long msk_window_end(const struct mptcp_sock *msk);
void msk_set_window_end(struct mptcp_sock *msk, unsigned long long end);
unsigned long long msk_next_seq(const struct mptcp_sock *msk);
unsigned char msk_first_endpoint(const struct mptcp_sock *msk);
unsigned int msk_last_ack(const struct mptcp_sock *msk); /* jiffies */
unsigned int msk_token(const struct mptcp_sock *msk);
unsigned long long msk_chunk_seq(const struct mptcp_sock *msk,
				 unsigned long long position);
void msk_resend(struct mptcp_sock *msk, unsigned long long from,
		unsigned long long to, struct mptcp_data_frag **at);
void msk_set_burst(struct mptcp_sock *msk, int bytes);
void msk_set_timer(struct mptcp_sock *msk, long ticks);

/* Iterate over the subflows; @prev NULL starts, NULL ends. msk lock. */
struct mptcp_subflow_context *
msk_next_subflow(const struct mptcp_sock *msk,
		 const struct mptcp_subflow_context *prev);

#define msk_for_each_subflow(msk, sf)					\
	for ((sf) = msk_next_subflow(msk, NULL); (sf);			\
	     (sf) = msk_next_subflow(msk, sf))

struct sock *subflow_ssk(const struct mptcp_subflow_context *sf);
struct sock *subflow_msk(const struct mptcp_subflow_context *sf);
unsigned int subflow_number(const struct mptcp_subflow_context *sf);
int subflow_local_id(const struct mptcp_subflow_context *sf);
_Bool subflow_scheduled(const struct mptcp_subflow_context *sf);
void subflow_set_scheduled(struct mptcp_subflow_context *sf, _Bool on);
_Bool subflow_request_bkup(const struct mptcp_subflow_context *sf);
_Bool subflow_peer_backup(const struct mptcp_subflow_context *sf);
_Bool subflow_joined(const struct mptcp_subflow_context *sf);
unsigned int subflow_stale_count(const struct mptcp_subflow_context *sf);
unsigned int subflow_next_byte(const struct mptcp_subflow_context *sf);
unsigned int subflow_given(const struct mptcp_subflow_context *sf);
unsigned long subflow_avg_pacing(const struct mptcp_subflow_context *sf);
void subflow_set_avg_pacing(struct mptcp_subflow_context *sf,
			    unsigned long rate);

/*
 * Sets request_bkup, and with @signal asks for an MP_PRIO. Needs the subflow's
 * own lock.
 */
void subflow_set_prio(struct mptcp_subflow_context *sf, _Bool backup,
		      _Bool signal);

#endif
