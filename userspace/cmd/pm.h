/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's MPTCP path manager is set to in this network namespace. */
#ifndef MPDPA_CMD_PM_H
#define MPDPA_CMD_PM_H

#include <stdbool.h>
#include <stdint.h>

/* Of more endpoints only so many are told in full. */
#define PM_ENDPOINTS_MAX	32

struct pm_endpoint {
	uint8_t id;
	uint8_t family;			/* AF_INET or AF_INET6 */
	uint8_t addr[16];
	bool subflow;			/* subflows are made from it */
};

struct pm_settings {
	unsigned int endpoints;
	struct pm_endpoint endpoint[PM_ENDPOINTS_MAX];
	unsigned int backups;		/* of them, flagged backup */
	unsigned int subflow_limit;	/* subflows beside the first */
	unsigned int accept_limit;	/* addresses taken from a peer */
};

/* 0, -EPERM without CAP_NET_ADMIN, -ENOENT without MPTCP, or another -errno. */
int pm_read(struct pm_settings *settings);

#endif /* MPDPA_CMD_PM_H */
