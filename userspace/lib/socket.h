/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library's private view of the kernel's socket interface. */
#ifndef MPDPA_LIB_SOCKET_H
#define MPDPA_LIB_SOCKET_H

#include <netinet/in.h>
#include <sys/socket.h>

#ifndef SOL_MPTCP
#define SOL_MPTCP 284
#endif

#endif /* MPDPA_LIB_SOCKET_H */
