/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A budget of bytes for a path: so many in each period, for all connections
 * together. A connection takes what it is about to send in advance, so that
 * they never spend more, and gives back what it did not need.
 */
#ifndef _MPTCP_DPA_QUOTA_H
#define _MPTCP_DPA_QUOTA_H

#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* What an operator says. */
struct quota_terms {
	u64	bytes;		/* in a period; 0: no limit */
	u64	period_ns;
	bool	soft;		/* it is told when it is spent, and goes on */
};

struct quota {
	refcount_t		refs;
	struct rcu_head		rcu;
	spinlock_t		lock;		/* the innermost; the rest: */
	struct quota_terms	terms;
	u64			begin_ns;	/* of this period */
	u64			taken;		/* in it, spent or not */
	u64			unspent;	/* of that, held by connections */
	bool			told;		/* that it is spent */
};

struct quota *quota_create(const struct quota_terms *terms);
struct quota *quota_get(struct quota *q);
void quota_put(struct quota *q);

void quota_change(struct quota *q, const struct quota_terms *terms);
void quota_read(struct quota *q, struct quota_terms *terms, u64 *spent);

u64 quota_left(struct quota *q, u64 now_ns);
u32 quota_take(struct quota *q, u32 bytes, u64 now_ns, bool *reached);
void quota_give_back(struct quota *q, u32 bytes);
void quota_spend(struct quota *q, u32 bytes, u32 had);

#endif
