/* SPDX-License-Identifier: GPL-2.0-only */
/* Included first by every unit that logs. */
#ifndef pr_fmt
#define pr_fmt(fmt)	"mptcp_dpa: " fmt
#endif
