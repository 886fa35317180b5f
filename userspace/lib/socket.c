// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Making Multipath TCP sockets. */
#include <errno.h>

#include "mpdpa.h"
#include "socket.h"

int mpdpa_socket(int family)
{
	int fd;

	if (family != AF_INET && family != AF_INET6)
		return -EAFNOSUPPORT;
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_MPTCP);
	return fd < 0 ? -errno : fd;
}
