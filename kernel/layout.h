/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MPTCP_DPA_LAYOUT_H
#define _MPTCP_DPA_LAYOUT_H

int layout_init(void);

#endif
