/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scheduler's plan (dpa_state::plan_until_ns and what follows it), carried
 * out. See Documentation/design.md, "Plans".
 */
#ifndef _MPTCP_DPA_PLAN_H
#define _MPTCP_DPA_PLAN_H

struct conn;
struct mptcp_sock;
struct mptcp_subflow_context;
struct sock;

void plan_schedule(struct mptcp_sock *msk, struct mptcp_subflow_context *sf,
		   unsigned int burst);
long plan_timeout(const struct mptcp_subflow_context *sf,
		  const struct sock *ssk);
void plan_set_timer(struct mptcp_sock *msk, long longest);
int plan_begin(struct conn *c);
int plan_go_on(struct mptcp_sock *msk);
void plan_ready(struct conn *c);
void plan_cut(struct conn *c);

#endif
