/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MPTCP_DPA_STRUCT_OPS_H
#define _MPTCP_DPA_STRUCT_OPS_H

int struct_ops_init(void);

#endif
