/* SPDX-License-Identifier: GPL-2.0 */
/* Talking to the module's netlink family, and saying why it refused. */
#ifndef MPDPA_CMD_MODULE_H
#define MPDPA_CMD_MODULE_H

#include "mpdpa.h"

/* An exit status; when it is not 0 the reason has been printed. */
int module_connect(const char *what, struct mpdpa_ctl **ctl);

/* Prints the kernel's own words about an error if it had any; the exit status. */
int module_refused(struct mpdpa_ctl *ctl, const char *what, int err);

/* The same, where the error did not come with a handle. */
int module_failed(const char *what, int err);

#endif /* MPDPA_CMD_MODULE_H */
