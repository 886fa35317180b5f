// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "pm.h"
#include "route.h"

/* Of the ranges kept for documentation, which no network has of its own. */
static const uint8_t far4[4] = { 192, 0, 2, 1 };
static const uint8_t far6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };

static size_t addr_size(const struct pm_endpoint *endpoint)
{
	return endpoint->family == AF_INET ? 4 : 16;
}

static int has_address(const struct ifaddrs *entry, const struct pm_endpoint *endpoint)
{
	const void *addr;

	if (!entry->ifa_addr || entry->ifa_addr->sa_family != endpoint->family)
		return 0;
	if (endpoint->family == AF_INET)
		addr = &((const struct sockaddr_in *)entry->ifa_addr)->sin_addr;
	else
		addr = &((const struct sockaddr_in6 *)entry->ifa_addr)->sin6_addr;
	return !memcmp(addr, endpoint->addr, addr_size(endpoint));
}

int route_interface_of(const struct pm_endpoint *endpoint)
{
	struct ifaddrs *all, *entry;
	int index = -EADDRNOTAVAIL;

	if (getifaddrs(&all))
		return -errno;
	for (entry = all; entry; entry = entry->ifa_next) {
		if (has_address(entry, endpoint)) {
			index = if_nametoindex(entry->ifa_name);
			break;
		}
	}
	freeifaddrs(all);
	return index;
}

static struct nlmsghdr *request(void *buffer, const struct pm_endpoint *from)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct rtmsg *route;

	nlh->nlmsg_type = RTM_GETROUTE;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = time(NULL);
	route = mnl_nlmsg_put_extra_header(nlh, sizeof(*route));
	route->rtm_family = from->family;
	route->rtm_dst_len = route->rtm_src_len = 8 * addr_size(from);
	mnl_attr_put(nlh, RTA_SRC, addr_size(from), from->addr);
	mnl_attr_put(nlh, RTA_DST, addr_size(from), from->family == AF_INET ? far4 : far6);
	return nlh;
}

static int on_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	int *index = data;

	/* IPv6 answers with a route that leads nowhere */
	if (route->rtm_type != RTN_UNICAST) {
		*index = -ENETUNREACH;
		return MNL_CB_STOP;
	}
	mnl_attr_for_each(attr, nlh, sizeof(*route))
		if (mnl_attr_get_type(attr) == RTA_OIF && !mnl_attr_validate(attr, MNL_TYPE_U32))
			*index = mnl_attr_get_u32(attr);
	return MNL_CB_STOP;
}

static int talk(struct mnl_socket *socket, const struct pm_endpoint *from)
{
	char buffer[4096];
	struct nlmsghdr *nlh = request(buffer, from);
	unsigned int seq = nlh->nlmsg_seq;
	int index = -ENETUNREACH;
	ssize_t n;

	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	if (n < 0 || mnl_cb_run(buffer, n, seq, mnl_socket_get_portid(socket), on_route, &index) < 0)
		return -errno;
	return index;
}

int route_leaves_by(const struct pm_endpoint *from)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	int index;

	if (!socket)
		return -errno;
	index = talk(socket, from);
	mnl_socket_close(socket);
	return index == -EHOSTUNREACH ? -ENETUNREACH : index;
}
