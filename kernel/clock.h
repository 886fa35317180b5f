/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _MPTCP_DPA_CLOCK_H
#define _MPTCP_DPA_CLOCK_H

#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>

/*
 * How far CLOCK_MONOTONIC of the calling process is ahead of the host's, which the module
 * reads: its time namespace says so. Process context.
 */
static inline s64 clock_ahead_ns(void)
{
#ifdef CONFIG_TIME_NS
	return timespec64_to_ns(&current->nsproxy->time_ns->offsets.monotonic);
#else
	return 0;
#endif
}

#endif
