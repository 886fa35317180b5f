/* SPDX-License-Identifier: GPL-2.0-only */
/* The first chunk of a connection waits for its turn on a path that many have filled. */
#ifndef _MPTCP_DPA_TURN_H
#define _MPTCP_DPA_TURN_H

#include <linux/types.h>

struct conn;

void turn_forget(struct conn *c);
bool turn_begin(struct conn *c);
void turn_look(struct conn *c);
bool turn_is_to_come(const struct conn *c);
u64 turn_look_in_ns(const struct conn *c);

#endif
