/* SPDX-License-Identifier: GPL-2.0 */
/* Connections as text and JSON. */
#ifndef MPDPA_CMD_CONNSHOW_H
#define MPDPA_CMD_CONNSHOW_H

#include <stdio.h>

#include "json.h"
#include "mpdpa.h"

/* now_ns: CLOCK_MONOTONIC, for the time that is left. */
void conn_show_text(FILE *out, const struct mpdpa_conn *conn, uint64_t now_ns);
void conn_show_json(struct json *json, const struct mpdpa_conn *conn, uint64_t now_ns);

/* "3.214s", "250ms", "15us"; with a minus if below 0. */
const char *time_text(int64_t ns, char text[32]);

uint64_t monotonic_ns(void);

#endif /* MPDPA_CMD_CONNSHOW_H */
