/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probe's observations and what follows from them. Private, for the tests. */
#ifndef MPDPA_LIB_PROBE_H
#define MPDPA_LIB_PROBE_H

#include <stdbool.h>

#include "internal.h"

/* Errors are positive errno values, 0 is success. */
struct probe_facts {
	bool mptcp;		/* the socket's protocol is Multipath TCP */
	int mptcp_info_error;	/* of getsockopt(MPTCP_INFO) */
	bool fallback;		/* what that said */
	int info_error;		/* of getsockopt(MPTCP_DPA_INFO) */
	bool module;		/* mptcp_dpa is loaded */
	bool attached;		/* a scheduler that takes chunks is available */
	bool selected;		/* and net.mptcp.scheduler names it */
	bool fresh_ready;	/* MPTCP_DPA_INFO works on a socket made now */
};

/* Sets attached and selected from what the two sysctls say; cuts up available. */
void probe_schedulers(char *available, const char *current, struct probe_facts *facts)
	INTERNAL(probe_schedulers);

/* Pure: an enum mpdpa_state. */
int probe_decide(const struct probe_facts *facts) INTERNAL(probe_decide);

#endif /* MPDPA_LIB_PROBE_H */
