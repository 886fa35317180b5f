/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which subflows have a row, where a connection has more of them than rows: Linux 7.2
 * lets it have 65.
 */
#ifndef _MPTCP_DPA_ROOM_H
#define _MPTCP_DPA_ROOM_H

#include <linux/types.h>

struct conn;

bool room_is_wanted(struct conn *c);
bool room_make(struct conn *c, bool owned);

#endif
