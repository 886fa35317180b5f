/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of the socket options, whoever attached them. */
#ifndef MPDPA_CMD_SOCKOPTS_H
#define MPDPA_CMD_SOCKOPTS_H

#define SETSOCKOPT_PROGRAM	"mpdpa_setsockopt"
#define GETSOCKOPT_PROGRAM	"mpdpa_getsockopt"

/*
 * Whether both serve the sockets that this process makes: attached to its
 * cgroup or to one above. 1, 0, or -errno (-EPERM: only root can see it).
 */
int sockopts_serve(void);

#endif /* MPDPA_CMD_SOCKOPTS_H */
