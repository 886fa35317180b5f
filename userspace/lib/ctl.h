/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is behind a struct mpdpa_ctl. Private. */
#ifndef MPDPA_LIB_CTL_H
#define MPDPA_LIB_CTL_H

#include "genl.h"
#include "internal.h"
#include "mpdpa.h"

struct mpdpa_ctl {
	struct genl genl;
};

/*
 * For a request that is refused here: no words of the kernel about an earlier
 * one may remain. Returns the error.
 */
int ctl_refuse(struct mpdpa_ctl *ctl, int err) INTERNAL(ctl_refuse);

#endif /* MPDPA_LIB_CTL_H */
