// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The handle for the module's netlink family. */
#include <errno.h>
#include <stdlib.h>

#include "ctl.h"

int mpdpa_ctl_open(struct mpdpa_ctl **ctl)
{
	struct mpdpa_ctl *new = malloc(sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = genl_open(&new->genl, MPTCP_DPA_FAMILY_NAME);
	if (err) {
		free(new);
		return err;
	}
	*ctl = new;
	return 0;
}

void mpdpa_ctl_close(struct mpdpa_ctl *ctl)
{
	if (!ctl)
		return;
	genl_close(&ctl->genl);
	free(ctl);
}

const char *mpdpa_ctl_message(const struct mpdpa_ctl *ctl)
{
	return ctl->genl.message;
}

int ctl_refuse(struct mpdpa_ctl *ctl, int err)
{
	ctl->genl.message[0] = '\0';
	return err;
}
