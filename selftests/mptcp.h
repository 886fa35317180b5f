/* SPDX-License-Identifier: GPL-2.0-only */
/* What older C libraries do not know of MPTCP. */
#ifndef DPA_MPTCP_H
#define DPA_MPTCP_H

#include <netinet/in.h>
#include <sys/socket.h>

#ifndef SOL_MPTCP
#define SOL_MPTCP	284
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

#endif
