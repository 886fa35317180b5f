// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel sends the rest of a fragment of up to 32 KB on the subflow that was
 * picked, whatever its scheduler says, unless the peer's window ends first. So
 * where a pick is to be less, the window that the kernel looks at ends with it,
 * until it asks for the next pick. An acknowledgment in between puts that right
 * by itself, and the fragment is sent whole.
 */
#include <net/sock.h>

#include "msk.h"
#include "window.h"

/* Acknowledgments move the window under the msk's spinlock, even if it is owned. */
static bool lock_window(struct sock *sk)
{
	bool owned = sock_owned_by_user(sk);

	if (owned)
		spin_lock_bh(&sk->sk_lock.slock);
	return owned;
}

static void unlock_window(struct sock *sk, bool locked)
{
	if (locked)
		spin_unlock_bh(&sk->sk_lock.slock);
}

/**
 * window_cut() - let the pick that was just made end within its fragment
 * @c: the connection
 * @bytes: what is to be sent of the fragment; not 0
 *
 * Context: msk lock; does not sleep.
 */
void window_cut(struct conn *c, u32 bytes)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	bool locked = lock_window(c->sk);
	u64 less = msk_next_seq(msk) + bytes;
	s64 more = msk_window_end(msk) - less;

	if (more > 0 && more <= U32_MAX) {
		msk_set_window_end(msk, less);
		c->window_less = less;
		c->window_cut = more;
	}
	unlock_window(c->sk, locked);
}

/**
 * window_put_back() - the window is the peer's again
 * @c: a connection whose window was cut
 *
 * Context: msk lock; does not sleep.
 */
void window_put_back(struct conn *c)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	bool locked = lock_window(c->sk);

	/* not if it is another stream's: connect() may have begun one */
	if (msk_window_end(msk) - c->window_less < c->window_cut)
		msk_set_window_end(msk, c->window_less + c->window_cut);
	c->window_cut = 0;
	unlock_window(c->sk, locked);
}
