/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's MPTCP path manager is set to in this network namespace. */
#ifndef MPDPA_CMD_PM_H
#define MPDPA_CMD_PM_H

struct pm_settings {
	unsigned int endpoints;
	unsigned int backups;		/* of them, flagged backup */
	unsigned int subflow_limit;	/* subflows beside the first */
	unsigned int accept_limit;	/* addresses taken from a peer */
};

/* 0, -EPERM without CAP_NET_ADMIN, -ENOENT without MPTCP, or another -errno. */
int pm_read(struct pm_settings *settings);

#endif /* MPDPA_CMD_PM_H */
