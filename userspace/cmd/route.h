/* SPDX-License-Identifier: GPL-2.0 */
/* Which way packets with a given source address leave this network namespace. */
#ifndef MPDPA_CMD_ROUTE_H
#define MPDPA_CMD_ROUTE_H

#include <stdint.h>

struct pm_endpoint;

/*
 * The index of the interface by which a packet from the endpoint's address to
 * somewhere far leaves. -ENETUNREACH: there is no such way, -EADDRNOTAVAIL: the
 * address is on no interface here, or another -errno.
 */
int route_leaves_by(const struct pm_endpoint *from);

/* The index of the interface that has the address, or -errno as above. */
int route_interface_of(const struct pm_endpoint *endpoint);

#endif /* MPDPA_CMD_ROUTE_H */
