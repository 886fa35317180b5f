/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probe's observations and what follows from them. Private, for the tests. */
#ifndef MPDPA_LIB_PROBE_H
#define MPDPA_LIB_PROBE_H

#include <stdbool.h>

/* Errors are positive errno values, 0 is success. */
struct probe_facts {
	bool mptcp;		/* the socket's protocol is Multipath TCP */
	int mptcp_info_error;	/* of getsockopt(MPTCP_INFO) */
	bool fallback;		/* what that said */
	int info_error;		/* of getsockopt(MPTCP_DPA_INFO) */
	int short_error;	/* of setsockopt(MPTCP_DPA_CHUNK) with one byte */
	bool module;		/* mptcp_dpa is loaded */
	bool attached;		/* mpdpa is among the available schedulers */
	bool selected;		/* net.mptcp.scheduler says mpdpa */
};

/* Pure: an enum mpdpa_state. */
int probe_decide(const struct probe_facts *facts);

#endif /* MPDPA_LIB_PROBE_H */
