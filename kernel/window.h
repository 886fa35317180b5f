/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MPTCP_DPA_WINDOW_H
#define _MPTCP_DPA_WINDOW_H

#include "conn.h"

void window_cut(struct conn *c, u32 bytes);
void window_put_back(struct conn *c);

/* For each look at the connection: the window is the peer's again. msk lock. */
static inline void window_restore(struct conn *c)
{
	if (c->window_cut)
		window_put_back(c);
}

#endif
