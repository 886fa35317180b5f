/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a path that fell silent back? */
#ifndef _MPTCP_DPA_PROBE_H
#define _MPTCP_DPA_PROBE_H

#include <linux/types.h>

struct conn;

bool probe_is_due(const struct conn *c);
void probe(struct conn *c);

#endif
