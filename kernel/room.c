// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <net/tcp.h>

#include "conn.h"
#include "msk.h"
#include "pace.h"
#include "path.h"
#include "prio.h"
#include "room.h"
#include "symbols.h"

/*
 * No two that are settled lose their rows within this time, nor within hysteresis_us, and
 * so long nobody looks again for one to lose it.
 */
#define ROOM_APART_MS	100U

static bool made_lately(const struct conn *c)
{
	return c->room_ms && conn_now_ms(c) - c->room_ms <
			     max(prio_hysteresis_ms(c), ROOM_APART_MS);
}

/* Rows whose subflows the same interface carries, without @but. */
static int crowd(const struct conn *c, int ifindex, int but)
{
	int i, n = 0;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		n += i != but && c->path[i].sf && c->path[i].ifindex == ifindex;
	return n;
}

/*
 * What is of least use has the highest: what can carry nothing, then one of many on an
 * interface, which are not faster than a few, then what costs more.
 */
static u64 rank(bool useless, u32 cost, int of)
{
	return (useless || cost == MPTCP_DPA_COST_FORBIDDEN ? BIT_ULL(63) : 0) |
	       (u64)of << 32 | cost;
}

/* Something is known of it, or it has been steered. */
static bool is_settled(const struct dpa_path *row)
{
	return row->goodput || (row->flags & DPA_PATH_STEERED);
}

/* Has it bytes that are counted there? One whose TCP is not up carries none. */
static bool has_bytes(const struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	return !((1 << READ_ONCE(ssk->sk_state)) & (TCPF_CLOSE | TCPF_SYN_SENT)) &&
	       READ_ONCE(tp->write_seq) != READ_ONCE(tp->snd_una);
}

/* May it lose its row? */
static bool is_dispensable(const struct conn *c, int i, const struct sock *ssk,
			   bool owned)
{
	const struct dpa_path *row = &c->state.path[i];

	if ((!owned && (row->flags & DPA_PATH_STEERED)) ||
	    (is_settled(row) && made_lately(c)))
		return false;
	return c->state.last != i + 1 && !has_bytes(ssk);
}

/* Who is to have a row, and who loses it. */
struct change {
	struct mptcp_subflow_context *gets, *loses;
	int	row;
};

/* What may be taken away: of each row its subflow, NULL if not, and that one's rank. */
struct offer {
	struct mptcp_subflow_context *sf[MPTCP_DPA_PATHS_MAX];
	u64	rank[MPTCP_DPA_PATHS_MAX];
};

/* false: nothing may be taken */
static bool find_offer(const struct conn *c, bool owned, struct offer *offer)
{
	struct mptcp_subflow_context *sf;
	bool any = false;

	*offer = (struct offer){};
	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i < 0 || !is_dispensable(c, i, subflow_ssk(sf), owned))
			continue;
		offer->sf[i] = sf;
		offer->rank[i] = rank(!kernel_fn(mptcp_subflow_active)(sf),
				      c->state.path[i].cost,
				      crowd(c, c->path[i].ifindex, -1));
		any = true;
	}
	return any;
}

/* The row of least use of those in which a subflow would be of more; negative: none. */
static int find_row(const struct conn *c, struct mptcp_subflow_context *sf,
		    const struct offer *offer)
{
	int i, ifindex, found = -ENOENT;
	u32 cost;

	if (path_find(c, sf) >= 0 || !kernel_fn(mptcp_subflow_active)(sf))
		return -ENOENT;
	cost = path_price(c, sf, &ifindex);
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++) {
		if (offer->sf[i] &&
		    rank(false, cost, crowd(c, ifindex, i) + 1) < offer->rank[i] &&
		    (found < 0 || offer->rank[i] > offer->rank[found]))
			found = i;
	}
	return found;
}

/*
 * A namespace may have many costs, and a connection many subflows that are looked up in
 * them: who found nothing looks again after a while only.
 */
static bool is_fruitless(const struct conn *c)
{
	u16 since_ms = conn_now_ms(c) - c->fruitless_ms;

	return c->fruitless_ms && since_ms < ROOM_APART_MS;
}

/* false: everybody has what is due to him, or may not have it now */
static bool find_change(struct conn *c, bool owned, struct change *found)
{
	struct offer offer;

	if (c->subflows < MPTCP_DPA_PATHS_MAX || c->state.again ||
	    is_fruitless(c) || !find_offer(c, owned, &offer))
		return false;
	msk_for_each_subflow(msk_of(c->sk), found->gets) {
		found->row = find_row(c, found->gets, &offer);
		if (found->row < 0)
			continue;
		found->loses = offer.sf[found->row];
		return true;
	}
	c->fruitless_ms = (u16)conn_now_ms(c) ?: 1;
	return false;
}

/**
 * room_is_wanted() - would room_make(), with the msk owned, change anything?
 * @c: the connection, refreshed
 *
 * Context: msk lock; does not sleep.
 */
bool room_is_wanted(struct conn *c)
{
	struct change change;

	return find_change(c, true, &change);
}

/**
 * room_make() - subflows that are of more use get the rows of those that are of less
 * @c: the connection, refreshed
 * @owned: the msk is owned, and this may sleep
 *
 * There are fewer rows than a connection may have subflows, and who joins last need
 * not be who costs most. Only one that has nothing on its way loses its row, and of
 * those that are known, or have a priority to be given back, one in a while. Without
 * a row a subflow gets nothing while a chunk is in force.
 *
 * Context: msk lock; takes the subflows' locks one by one if @owned.
 * Return: has one got a row? Nothing is known of that before the next refresh.
 */
bool room_make(struct conn *c, bool owned)
{
	struct change change;
	int n;

	for (n = 0; n < MPTCP_DPA_PATHS_MAX; n++) {
		int i;

		if (!find_change(c, owned, &change))
			break;
		i = change.row;
		if (!prio_give_back(c, change.loses, i))
			break;
		pace_give_back(c, i, subflow_ssk(change.loses));
		if (is_settled(&c->state.path[i]))
			c->room_ms = conn_now_ms(c) ?: 1;
		path_clear(c, i);
		path_row(c, change.gets, i);
		c->state.plan_until_ns = 0;
	}
	return n > 0;
}
