// SPDX-License-Identifier: GPL-2.0-only
/* Socket options and netlink messages whose parts are drawn one by one. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/mptcp_dpa.h>
#include <linux/mptcp_dpa_sock.h>

#include "fuzz.h"

#define BUFFER_BYTES	4096

static const struct {
	int		name;
	uint32_t	size;
} options[] = {
	{ MPTCP_DPA_CHUNK, sizeof(struct mptcp_dpa_chunk) },
	{ MPTCP_DPA_INFO, sizeof(struct mptcp_dpa_info) },
	{ MPTCP_DPA_STREAM, sizeof(struct mptcp_dpa_stream) },
	{ MPTCP_DPA_PREF, sizeof(struct mptcp_dpa_pref) },
	{ MPTCP_DPA_EVENTFD, sizeof(int) },
};

#define OPTIONS	(sizeof(options) / sizeof(options[0]))

static uint64_t good_time(struct chance *c)
{
	static const uint64_t times[] = {
		1, 1000000, 20000000, 100000000, 1000000000, 30000000000,
	};

	return times[below(c, sizeof(times) / sizeof(times[0]))];
}

static uint32_t good_alpha(struct chance *c)
{
	return one_in(c, 2) ? 0 : MPTCP_DPA_ALPHA_MIN + below(c, 3000);
}

static uint32_t good_cost(struct chance *c)
{
	static const uint32_t costs[] = {
		0, 1, 2, 10, MPTCP_DPA_COST_MAX, MPTCP_DPA_COST_FORBIDDEN,
	};

	return costs[below(c, sizeof(costs) / sizeof(costs[0]))];
}

/* One of the paths'. */
static void good_address(struct chance *c, int family, void *address)
{
	char text[32];

	snprintf(text, sizeof(text), family == AF_INET ? "10.0.%u.1" :
		 "fd00:0:%u::1", 1 + below(c, 4));
	inet_pton(family, text, address);
}

/* A value that is good as it stands; what calls it may spoil it. */
static void good_value(struct chance *c, int name, void *value)
{
	struct mptcp_dpa_chunk *chunk = value;
	struct mptcp_dpa_stream *stream = value;
	struct mptcp_dpa_pref *pref = value;

	switch (name) {
	case MPTCP_DPA_CHUNK:
		chunk->length = 1 + below(c, 200000);
		chunk->deadline_ns = good_time(c);
		chunk->cookie = draw(c);
		chunk->alpha_milli = good_alpha(c);
		chunk->flags = below(c, 8) & ~MPTCP_DPA_CHUNK_F_ABS;
		break;
	case MPTCP_DPA_STREAM:
		if (one_in(c, 4))
			break;		/* ends it */
		stream->interval_ns = 1000000 + good_time(c);
		stream->deadline_ns = good_time(c);
		stream->expected_bytes = below(c, 100000);
		stream->alpha_milli = good_alpha(c);
		break;
	case MPTCP_DPA_PREF:
		pref->kind = 1 + below(c, 4);
		pref->cost = good_cost(c);
		pref->id = below(c, 4);
		if (pref->kind >= MPTCP_DPA_PREF_ADDR4)
			pref->id = 0;
		if (pref->kind == MPTCP_DPA_PREF_ADDR4)
			good_address(c, AF_INET, pref->addr);
		if (pref->kind == MPTCP_DPA_PREF_ADDR6)
			good_address(c, AF_INET6, pref->addr);
		break;
	case MPTCP_DPA_EVENTFD:
		*(int *)value = -1;
		break;
	}
}

/* Overwrites an aligned part with a number that is at some limit. */
static void spoil(struct chance *c, uint8_t *value, uint32_t size)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	uint32_t part = sizes[below(c, 4)];
	uint64_t number = odd_number(c);

	if (size >= part)
		memcpy(value + below(c, size / part) * part, &number, part);
}

static uint32_t odd_size(struct chance *c, uint32_t size)
{
	switch (below(c, 5)) {
	case 0: return 0;
	case 1: return below(c, size + 1);
	case 2: return size + 1 + below(c, 64);
	case 3: return BUFFER_BYTES;
	default: return size - 1;
	}
}

void fuzz_setsockopt(struct chance *c, int fd)
{
	uint32_t i = below(c, OPTIONS);
	uint8_t value[BUFFER_BYTES] __attribute__((aligned(8))) = {};
	uint32_t size = options[i].size;
	int name = options[i].name, event = -1;
	const struct mptcp_dpa_pref *pref = (void *)value;
	bool good;

	good_value(c, name, value);
	if (name == MPTCP_DPA_EVENTFD && !one_in(c, 3)) {
		event = eventfd(0, EFD_NONBLOCK);
		memcpy(value, &event, sizeof(event));
	}
	while (one_in(c, 3))
		spoil(c, value, size);
	if (one_in(c, 8))
		size = odd_size(c, size);
	if (one_in(c, 40))
		name += below(c, 7) - 3;
	good = !setsockopt(fd, SOL_MPTCP, name,
			   one_in(c, 100) ? (void *)8 : value, size);
	count(KIND_SET + i, good);
	if (name == MPTCP_DPA_PREF && pref->kind <= MPTCP_DPA_PREF_ADDR6)
		count_more(KIND_PREF + pref->kind, good);
	if (event >= 0)
		close(event);
}

void fuzz_getsockopt(struct chance *c, int fd)
{
	uint32_t i = below(c, OPTIONS);
	uint8_t value[BUFFER_BYTES];
	socklen_t size = options[i].size;
	int name = options[i].name;

	if (one_in(c, 4))
		size = odd_size(c, size);
	if (one_in(c, 40))
		name += below(c, 7) - 3;
	count(KIND_GET + i, !getsockopt(fd, SOL_MPTCP, name,
					one_in(c, 100) ? (void *)8 : value, &size));
}

static int take_family(const struct nlattr *attr, void *family)
{
	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		*(uint16_t *)family = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

/* A netlink socket in the namespace of the caller; -1 on failure. */
int netlink_open(uint16_t *family)
{
	char buffer[BUFFER_BYTES] __attribute__((aligned(8))) = {};
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *header;
	struct timeval patience = { .tv_usec = 200000 };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ssize_t n;

	if (fd < 0)
		return -1;
	message->nlmsg_type = GENL_ID_CTRL;
	message->nlmsg_flags = NLM_F_REQUEST;
	header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->cmd = CTRL_CMD_GETFAMILY;
	header->version = 1;
	mnl_attr_put_strz(message, CTRL_ATTR_FAMILY_NAME, MPTCP_DPA_FAMILY_NAME);
	sendto(fd, message, message->nlmsg_len, 0, (void *)&kernel, sizeof(kernel));
	n = recv(fd, buffer, sizeof(buffer), 0);
	message = (void *)buffer;
	if (n < (ssize_t)sizeof(*message) || message->nlmsg_type != GENL_ID_CTRL) {
		close(fd);
		return -1;
	}
	mnl_attr_parse(message, sizeof(struct genlmsghdr), take_family, family);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* A connection that a thread's dump has told of: most guesses would miss. */
static __thread uint64_t known_id;
static __thread uint32_t known_token;

/* An attribute of a likely size for its type, more or less. */
static void put_attribute(struct chance *c, struct nlmsghdr *message, int depth)
{
	static const uint8_t sizes[] = { 1, 4, 4, 4, 8, 8, 16 };
	uint16_t type = one_in(c, 30) ? draw(c) & 0xffff : below(c, 16);
	uint8_t value[64];
	uint64_t number = one_in(c, 2) ? below(c, 12) : odd_number(c);
	uint32_t size = sizes[below(c, sizeof(sizes))];
	struct nlattr *nest;

	if (message->nlmsg_len > BUFFER_BYTES / 2)
		return;
	if (depth && one_in(c, 5)) {
		nest = mnl_attr_nest_start(message, type);
		while (!one_in(c, 4))
			put_attribute(c, message, depth - 1);
		mnl_attr_nest_end(message, nest);
		return;
	}
	memset(value, 0, sizeof(value));
	if (type == MPTCP_DPA_A_PATH_COST && !one_in(c, 4))
		number = good_cost(c);
	memcpy(value, &number, sizeof(number));
	if (one_in(c, 20))
		size = below(c, sizeof(value));
	mnl_attr_put(message, type, size, value);
}

/* A budget that is soon spent, none, or a rate. */
static void good_limits(struct chance *c, struct nlmsghdr *message)
{
	if (one_in(c, 2)) {
		mnl_attr_put_u64(message, MPTCP_DPA_A_PATH_QUOTA_BYTES,
				 one_in(c, 3) ? 0 : below(c, 1000000));
		mnl_attr_put_u64(message, MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS,
				 1000000000ULL * (1 + below(c, 20)));
		if (one_in(c, 4))
			mnl_attr_put(message, MPTCP_DPA_A_PATH_QUOTA_SOFT, 0,
				     NULL);
	}
	if (one_in(c, 2))
		mnl_attr_put_u64(message, MPTCP_DPA_A_PATH_CHEAP_RATE,
				 one_in(c, 3) ? 0 : below(c, 10000000));
}

/* what names a path, of the costs and of a connection's preferences */
static const struct path_attributes {
	uint16_t	endpoint;
	uint16_t	ifindex;
	uint16_t	addr4;
	uint16_t	addr6;
	enum part	by_addr4;
	enum part	by_addr6;
} of_path = {
	.endpoint	= MPTCP_DPA_A_PATH_ENDPOINT_ID,
	.ifindex	= MPTCP_DPA_A_PATH_IFINDEX,
	.addr4		= MPTCP_DPA_A_PATH_ADDR4,
	.addr6		= MPTCP_DPA_A_PATH_ADDR6,
	.by_addr4	= PART_PATH_ADDR4,
	.by_addr6	= PART_PATH_ADDR6,
}, of_pref = {
	.endpoint	= MPTCP_DPA_A_PREF_ENDPOINT_ID,
	.ifindex	= MPTCP_DPA_A_PREF_IFINDEX,
	.addr4		= MPTCP_DPA_A_PREF_ADDR4,
	.addr6		= MPTCP_DPA_A_PREF_ADDR6,
	.by_addr4	= PART_PREF_ADDR4,
	.by_addr6	= PART_PREF_ADDR6,
};

/* Like what follows: as bits, the parts that the request has now. */
static uint32_t good_path(struct chance *c, struct nlmsghdr *message,
			  const struct path_attributes *as)
{
	uint8_t address[16];

	switch (below(c, 4)) {
	case 0:
		mnl_attr_put_u32(message, as->ifindex, 1 + below(c, 5));
		return 0;
	case 1:
		good_address(c, AF_INET, address);
		mnl_attr_put(message, as->addr4, 4, address);
		return 1U << as->by_addr4;
	case 2:
		good_address(c, AF_INET6, address);
		mnl_attr_put(message, as->addr6, 16, address);
		return 1U << as->by_addr6;
	default:
		mnl_attr_put_u8(message, as->endpoint, 1 + below(c, 4));
		return 0;
	}
}

static uint32_t good_pref(struct chance *c, struct nlmsghdr *message)
{
	struct nlattr *nest = mnl_attr_nest_start(message, MPTCP_DPA_A_CONN_PREF);
	uint32_t parts = good_path(c, message, &of_pref);

	mnl_attr_put_u32(message, MPTCP_DPA_A_PREF_COST, good_cost(c));
	mnl_attr_nest_end(message, nest);
	return parts;
}

static uint32_t good_chunk(struct chance *c, struct nlmsghdr *message)
{
	struct nlattr *nest = mnl_attr_nest_start(message, MPTCP_DPA_A_CONN_CHUNK);

	mnl_attr_put_u64(message, MPTCP_DPA_A_CHUNK_LENGTH, 1 + below(c, 200000));
	mnl_attr_put_u64(message, MPTCP_DPA_A_CHUNK_DEADLINE_NS, good_time(c));
	if (one_in(c, 2))
		mnl_attr_put_u64(message, MPTCP_DPA_A_CHUNK_COOKIE, draw(c));
	if (one_in(c, 2))
		mnl_attr_put_u32(message, MPTCP_DPA_A_CHUNK_ALPHA_MILLI,
				 good_alpha(c));
	if (one_in(c, 2))
		mnl_attr_put_u8(message, MPTCP_DPA_A_CHUNK_LATE_POLICY,
				below(c, 3));
	mnl_attr_nest_end(message, nest);
	return 1U << PART_CHUNK;
}

static uint32_t good_changes(struct chance *c, struct nlmsghdr *message)
{
	uint32_t parts = 0;

	if (one_in(c, 2))
		mnl_attr_put_u32(message, MPTCP_DPA_A_CONN_ALPHA_MILLI,
				 good_alpha(c));
	if (one_in(c, 2))
		mnl_attr_put_u32(message, MPTCP_DPA_A_CONN_OVERFLOW_MS,
				 one_in(c, 3) ? MPTCP_DPA_OVERFLOW_OFF :
						below(c, 300));
	if (one_in(c, 2))
		parts |= good_chunk(c, message);
	while (one_in(c, 2))
		parts |= good_pref(c, message);
	return parts;
}

static uint32_t good_attributes(struct chance *c, struct nlmsghdr *message,
				int cmd)
{
	uint32_t parts = 0;

	switch (cmd) {
	case MPTCP_DPA_CMD_PATH_SET:
		mnl_attr_put_u32(message, MPTCP_DPA_A_PATH_COST, 1 + below(c, 20));
		good_limits(c, message);
		/* fallthrough */
	case MPTCP_DPA_CMD_PATH_DEL:
	case MPTCP_DPA_CMD_PATH_GET:
		parts = good_path(c, message, &of_path);
		break;
	case MPTCP_DPA_CMD_CONN_GET:
	case MPTCP_DPA_CMD_CONN_SET:
		if (one_in(c, 3)) {
			mnl_attr_put_u32(message, MPTCP_DPA_A_CONN_TOKEN,
					 one_in(c, 4) ? draw(c) : known_token);
			parts = 1U << (cmd == MPTCP_DPA_CMD_CONN_GET ?
				       PART_GET_BY_TOKEN : PART_SET_BY_TOKEN);
		} else {
			mnl_attr_put_u64(message, MPTCP_DPA_A_CONN_ID,
					 one_in(c, 4) ? below(c, 3000) :
							known_id);
		}
		if (cmd == MPTCP_DPA_CMD_CONN_SET)
			parts |= good_changes(c, message);
		break;
	}
	return parts;
}

static int take_name(const struct nlattr *attr, void *unused)
{
	(void)unused;
	if (mnl_attr_get_type(attr) == MPTCP_DPA_A_CONN_ID &&
	    mnl_attr_get_payload_len(attr) == sizeof(uint64_t))
		known_id = mnl_attr_get_u64(attr);
	if (mnl_attr_get_type(attr) == MPTCP_DPA_A_CONN_TOKEN &&
	    mnl_attr_get_payload_len(attr) == sizeof(uint32_t))
		known_token = mnl_attr_get_u32(attr);
	return MNL_CB_OK;
}

/* Reads all of the answer; was it no error? */
static bool answered_well(struct chance *c, int nl)
{
	char buffer[16384] __attribute__((aligned(8)));
	const struct nlmsghdr *message;
	const struct nlmsgerr *error;
	int n;

	while ((n = recv(nl, buffer, sizeof(buffer), 0)) > 0) {
		message = (void *)buffer;
		for (; mnl_nlmsg_ok(message, n); message = mnl_nlmsg_next(message, &n)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return true;
			if (message->nlmsg_type == NLMSG_ERROR) {
				error = mnl_nlmsg_get_payload(message);
				return !error->error;
			}
			if (message->nlmsg_type >= NLMSG_MIN_TYPE && one_in(c, 3))
				mnl_attr_parse(message, sizeof(struct genlmsghdr),
					       take_name, NULL);
		}
	}
	return false;
}

void fuzz_netlink(struct chance *c, int nl, uint16_t family)
{
	char buffer[BUFFER_BYTES * 2] __attribute__((aligned(8))) = {};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *header;
	int cmd = 1 + below(c, MPTCP_DPA_CMD_STAT_GET);
	bool dump = (cmd == MPTCP_DPA_CMD_PATH_GET ||
		     cmd == MPTCP_DPA_CMD_CONN_GET) && one_in(c, 3);
	uint32_t parts = 0, part;
	bool good;

	if (one_in(c, 30))
		cmd = below(c, 16);
	message->nlmsg_type = family;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (dump ? NLM_F_DUMP : 0);
	header = mnl_nlmsg_put_extra_header(message, sizeof(*header));
	header->cmd = cmd;
	header->version = MPTCP_DPA_FAMILY_VERSION;
	if (!dump && !one_in(c, 4))
		parts = good_attributes(c, message, cmd);
	/* of a request that has more in it nobody knows what was taken */
	while (one_in(c, 3)) {
		put_attribute(c, message, 2);
		parts = 0;
	}
	if (one_in(c, 50)) {
		((uint8_t *)buffer)[sizeof(*message) + below(c, 32)] ^= draw(c);
		parts = 0;
	}
	if (sendto(nl, message, message->nlmsg_len, 0, (void *)&kernel,
		   sizeof(kernel)) < 0)
		good = false;
	else
		good = answered_well(c, nl);
	count((dump ? KIND_DUMP : KIND_NETLINK) + cmd % 16, good);
	for (part = 0; parts >> part; part++)
		if (parts >> part & 1)
			count_more(KIND_PART + part, good);
}
