// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "module.h"
#include "system.h"

int module_failed(const char *what, int err)
{
	switch (err) {
	case -ENOENT:
		return refused("%s: kernel module " MODULE_NAME " is not loaded: modprobe "
			       MODULE_NAME, what);
	case -EPERM:
		return refused("%s: not allowed, needs CAP_NET_ADMIN in this namespace", what);
	}
	return refused("%s: cannot reach the module: %s", what, strerror(-err));
}

int module_connect(const char *what, struct mpdpa_ctl **ctl)
{
	int err = mpdpa_ctl_open(ctl);

	return err ? module_failed(what, err) : MPDPA_EXIT_OK;
}

int module_refused(struct mpdpa_ctl *ctl, const char *what, int err)
{
	const char *message = mpdpa_ctl_message(ctl);

	if (message[0])
		return refused("%s: %s", what, message);
	if (err == -EPERM)
		return refused("%s: not allowed, needs CAP_NET_ADMIN in this namespace", what);
	return refused("%s: %s", what, strerror(-err));
}
