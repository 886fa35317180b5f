/* SPDX-License-Identifier: GPL-2.0 */
/* Paths as people name them. */
#ifndef MPDPA_CMD_PATHNAME_H
#define MPDPA_CMD_PATHNAME_H

#include <net/if.h>

#include "args.h"
#include "json.h"
#include "mpdpa.h"

/* Room for "endpoint ", an address or an interface, and the zero. */
#define PATHNAME_SIZE	64

/* The interface's name, or "if" and its number if it is gone. */
const char *pathname_interface(uint32_t ifindex, char name[IF_NAMESIZE]);

/* "dev wwan0", "endpoint 3" or "addr 192.0.2.1". */
const char *pathname_text(const struct mpdpa_path *path, char text[PATHNAME_SIZE]);

/* The same as members of an object, and the cost. */
void pathname_json(struct json *json, const struct mpdpa_path *path);

/* Turns words into the kernel's numbers; false: there is and was no such interface. */
bool pathname_resolve(const struct path_words *words, struct mpdpa_path *path);

#endif /* MPDPA_CMD_PATHNAME_H */
