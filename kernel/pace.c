// SPDX-License-Identifier: GPL-2.0-only
#include <net/sock.h>

#include "pace.h"

/* what sock::sk_max_pacing_rate is where nobody has set it */
#define ANY_PACE	(~0UL)

/**
 * pace_apply() - have a subflow's TCP send no faster than the plan says
 * @c: the connection
 * @i: the subflow's row
 * @ssk: and its TCP socket
 *
 * It is what SO_MAX_PACING_RATE does, and "ss -ti" shows. Where somebody else has
 * set that, it is left alone. Congestion control reads the limit at each
 * acknowledgment, and may miss the lower rate for one.
 *
 * Context: msk lock; does not sleep. The subflow's lock is not needed.
 */
void pace_apply(struct conn *c, int i, struct sock *ssk)
{
	unsigned long most = c->state.path[i].pace ?: ANY_PACE;
	unsigned long was = READ_ONCE(ssk->sk_max_pacing_rate);
	unsigned long ours = c->path[i].pace ?: ANY_PACE;

	if (was != ours && was != ANY_PACE)
		return;
	c->path[i].pace = c->state.path[i].pace;
	WRITE_ONCE(ssk->sk_max_pacing_rate, most);
	if (READ_ONCE(ssk->sk_pacing_rate) > most)
		WRITE_ONCE(ssk->sk_pacing_rate, most);
}

/**
 * pace_lift() - no plan stands: a subflow's TCP may send as fast as it likes
 * @c: the connection
 * @i: the subflow's row
 * @ssk: and its TCP socket
 *
 * Context: msk lock; does not sleep.
 */
void pace_lift(struct conn *c, int i, struct sock *ssk)
{
	c->state.path[i].pace = 0;
	pace_apply(c, i, ssk);
}
