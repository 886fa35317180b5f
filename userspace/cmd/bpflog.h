/* SPDX-License-Identifier: GPL-2.0 */
/* Keeps what libbpf says, and tells the useful end of it when something failed. */
#ifndef MPDPA_CMD_BPFLOG_H
#define MPDPA_CMD_BPFLOG_H

/* 0 prints nothing while all goes well, 1 what libbpf finds notable, 2 all. */
void bpflog_start(int verbose);

/* Prints the end of the verifier's log if there is one, else libbpf's last words. */
void bpflog_tail(void);

#endif /* MPDPA_CMD_BPFLOG_H */
