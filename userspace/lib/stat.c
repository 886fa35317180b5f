// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Counters of a network namespace. */
#include <stddef.h>
#include <linux/genetlink.h>

#include "attr.h"
#include "ctl.h"

static const struct {
	uint16_t attr;
	size_t offset;
} fields[] = {
	{ MPTCP_DPA_A_STAT_CONNECTIONS, offsetof(struct mpdpa_stats, connections) },
	{ MPTCP_DPA_A_STAT_DECISIONS, offsetof(struct mpdpa_stats, decisions) },
	{ MPTCP_DPA_A_STAT_CHUNK_DECISIONS, offsetof(struct mpdpa_stats, chunk_decisions) },
	{ MPTCP_DPA_A_STAT_GUARD_DROPS, offsetof(struct mpdpa_stats, guard_drops) },
	{ MPTCP_DPA_A_STAT_CHUNKS_SET, offsetof(struct mpdpa_stats, chunks_set) },
	{ MPTCP_DPA_A_STAT_CHUNKS_MET, offsetof(struct mpdpa_stats, chunks_met) },
	{ MPTCP_DPA_A_STAT_CHUNKS_MISSED, offsetof(struct mpdpa_stats, chunks_missed) },
	{ MPTCP_DPA_A_STAT_ACTIVATIONS, offsetof(struct mpdpa_stats, activations) },
	{ MPTCP_DPA_A_STAT_PRIO_SENT, offsetof(struct mpdpa_stats, prio_sent) },
	{ MPTCP_DPA_A_STAT_TICKS, offsetof(struct mpdpa_stats, ticks) },
	{ MPTCP_DPA_A_STAT_TURNS, offsetof(struct mpdpa_stats, turns) },
};

static int on_stats(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	size_t i;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
			if (fields[i].attr == mnl_attr_get_type(attr))
				*(uint64_t *)((char *)data + fields[i].offset) = attr_u64(attr);
		}
	}
	return 0;
}

int mpdpa_stats_get(struct mpdpa_ctl *ctl, struct mpdpa_stats *stats, size_t size)
{
	struct mpdpa_stats all = { 0 };
	struct nlmsghdr *nlh = genl_request(&ctl->genl, MPTCP_DPA_CMD_STAT_GET, 0);
	int err = genl_talk(&ctl->genl, nlh, on_stats, &all);

	if (!err)
		copy_out(stats, size, &all, sizeof(all));
	return err;
}
