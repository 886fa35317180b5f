/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_bkup and MP_PRIO: what the scheduler wants of a subflow is carried
 * out here, later. The bit shares its word with others under the subflow's own
 * lock, which must not be taken where schedulers run: the receive path takes
 * the msk's spinlock with a subflow's lock held.
 */
#ifndef _MPTCP_DPA_PRIO_H
#define _MPTCP_DPA_PRIO_H

#include <linux/types.h>

struct conn;
struct mptcp_subflow_context;

u32 prio_hysteresis_ms(const struct conn *c);
bool prio_pending(const struct conn *c);
void prio_apply(struct conn *c);
bool prio_give_back(struct conn *c, struct mptcp_subflow_context *sf, int i);

#endif
