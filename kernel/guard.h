/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every attached scheduler runs behind the guard: functions of the module take
 * the place of the program's in its mptcp_sched_ops, call it, and let through
 * only picks that the kernel's push loops can end with.
 */
#ifndef _MPTCP_DPA_GUARD_H
#define _MPTCP_DPA_GUARD_H

#include <linux/types.h>

struct mptcp_sched_ops;

/* schedulers that may be registered, or still in use, at one time */
#define GUARD_SLOTS	16

int guard_register(struct mptcp_sched_ops *ops);
void guard_unregister(struct mptcp_sched_ops *ops);
bool guard_covers(const struct mptcp_sched_ops *ops);

#endif
