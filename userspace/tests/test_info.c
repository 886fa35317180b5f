// SPDX-License-Identifier: GPL-2.0
/* Stepping through the rows of the info, and refusing what cannot be right. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl.h"
#include "mpdpa.h"
#include "tap.h"

static void test_rows(void)
{
	struct mptcp_dpa_info info = {
		.header_size = offsetof(struct mptcp_dpa_info, path),
		.path_size = sizeof(info.path[0]),
		.paths = 2,
	};
	struct mptcp_dpa_path_info row;

	info.path[0].subflow_id = 1;
	info.path[1].subflow_id = 2;
	ok(!mpdpa_info_path(&info, sizeof(info), 0, &row, sizeof(row)) && row.subflow_id == 1,
	   "first row");
	ok(!mpdpa_info_path(&info, sizeof(info), 1, &row, sizeof(row)) && row.subflow_id == 2,
	   "second row");
	ok(mpdpa_info_path(&info, sizeof(info), 2, &row, sizeof(row)) == -ENOENT, "no third");
	ok(mpdpa_info_path(&info, offsetof(struct mptcp_dpa_info, path[1]), 1, &row,
			   sizeof(row)) == -ENOENT, "a row beyond the buffer");
	ok(mpdpa_info_path(&info, 8, 0, &row, sizeof(row)) == -ENOENT, "hardly any buffer");
	info.header_size = sizeof(info) + 1;
	ok(mpdpa_info_path(&info, sizeof(info), 0, &row, sizeof(row)) == -ENOENT,
	   "a header beyond the buffer");
	info.header_size = 0;
	ok(mpdpa_info_path(&info, sizeof(info), 0, &row, sizeof(row)) == -ENOENT,
	   "no info was read");
}

/* A kernel whose rows have another length than ours. */
static void test_other_lengths(void)
{
	union {
		struct mptcp_dpa_info info;
		char bytes[1024];
	} u = { .info = { .paths = 2 } };
	const size_t head = offsetof(struct mptcp_dpa_info, path) + 24;
	struct mptcp_dpa_path_info row, second = { .subflow_id = 7, .activations = 9 };

	u.info.header_size = head;
	u.info.path_size = sizeof(row) + 16;
	memcpy(u.bytes + head + sizeof(row) + 16, &second, sizeof(second));
	ok(!mpdpa_info_path(&u.info, sizeof(u), 1, &row, sizeof(row)) && row.subflow_id == 7 &&
	   row.activations == 9, "longer header and rows");
	u.info.path_size = 8;
	memset(u.bytes + head, 0xff, 64);
	ok(!mpdpa_info_path(&u.info, sizeof(u), 1, &row, sizeof(row)) && row.subflow_id == ~0U &&
	   row.goodput == 0, "shorter rows");
}

static const struct {
	struct mpdpa_path path;
	int err;
	const char *what;
} refusals[] = {
	{ { .cost = 1 }, -EINVAL, "no name" },
	{ { .endpoint_id = 1, .ifindex = 1, .cost = 1 }, -EINVAL, "two names" },
	{ { .ifindex = 1, .family = AF_INET, .cost = 1, .addr = { 10 } }, -EINVAL, "two names" },
	{ { .endpoint_id = 1, .cost = 1, .addr = { 1 } }, -EINVAL, "an address without a family" },
	{ { .family = AF_INET, .cost = 1 }, -EINVAL, "no address" },
	{ { .family = AF_INET, .cost = 1, .addr = { 10, 0, 0, 1, 1 } }, -EINVAL, "too long" },
	{ { .family = 1, .cost = 1, .addr = { 1 } }, -EINVAL, "another family" },
	{ { .endpoint_id = 256, .cost = 1 }, -ERANGE, "endpoint" },
	{ { .ifindex = 1U << 31, .cost = 1 }, -ERANGE, "interface" },
	{ { .endpoint_id = 1 }, -ERANGE, "cost 0" },
	{ { .endpoint_id = 1, .cost = 1000001 }, -ERANGE, "cost" },
	{ { .endpoint_id = 1, .cost = MPTCP_DPA_COST_FORBIDDEN }, -ERANGE, "forbidden" },
};

/* Without the module one of no family will do: nothing of this is asked of the kernel. */
static struct mpdpa_ctl *open_ctl(void)
{
	struct mpdpa_ctl *ctl;

	if (!mpdpa_ctl_open(&ctl))
		return ctl;
	ctl = calloc(1, sizeof(*ctl));
	if (ctl)
		ctl->genl.nl = mnl_socket_open(NETLINK_GENERIC);
	return ctl;
}

static void test_path_refusals(void)
{
	struct mpdpa_ctl *ctl = open_ctl();
	size_t i;

	if (!ok(ctl && ctl->genl.nl, "a handle"))
		return;
	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		strcpy(ctl->genl.message, "about an earlier request");
		ok(mpdpa_path_set(ctl, &refusals[i].path) == refusals[i].err, "%s",
		   refusals[i].what);
		ok(!mpdpa_ctl_message(ctl)[0], "no words of the kernel");
	}
	mpdpa_ctl_close(ctl);
}

int main(void)
{
	test_rows();
	test_other_lengths();
	test_path_refusals();
	mpdpa_ctl_close(NULL);
	return tap_end();
}
