// SPDX-License-Identifier: GPL-2.0
/* Stepping through the rows of the info, and refusing what cannot be right. */
#include <errno.h>
#include <string.h>

#include "mpdpa.h"
#include "tap.h"

static void test_rows(void)
{
	struct mptcp_dpa_info info = { .paths = 2, .path_size = sizeof(info.path[0]) };
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
	info.path_size = 0;
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
	const size_t head = offsetof(struct mptcp_dpa_info, path);
	struct mptcp_dpa_path_info row, second = { .subflow_id = 7, .activations = 9 };

	u.info.path_size = sizeof(row) + 16;
	memcpy(u.bytes + head + sizeof(row) + 16, &second, sizeof(second));
	ok(!mpdpa_info_path(&u.info, sizeof(u), 1, &row, sizeof(row)) && row.subflow_id == 7 &&
	   row.activations == 9, "longer rows");
	u.info.path_size = 8;
	memset(u.bytes + head, 0xff, 64);
	ok(!mpdpa_info_path(&u.info, sizeof(u), 1, &row, sizeof(row)) && row.subflow_id == ~0U &&
	   row.goodput == 0, "shorter rows");
}

static void test_path_refusals(void)
{
	struct mpdpa_ctl *ctl;

	if (mpdpa_ctl_open(&ctl)) {
		skip("the module is not loaded");
		return;
	}
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ .cost = 1 }) == -EINVAL, "no name");
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ 1, 1, 1, 0 }) == -EINVAL, "two names");
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ 1, 0, 1, 1 }) == -EINVAL, "reserved");
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ 256, 0, 1, 0 }) == -ERANGE, "endpoint");
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ 1, 0, 0, 0 }) == -ERANGE, "cost 0");
	ok(mpdpa_path_set(ctl, &(struct mpdpa_path){ 1, 0, 1000001, 0 }) == -ERANGE, "cost");
	ok(!mpdpa_ctl_message(ctl)[0], "no words of the kernel");
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
