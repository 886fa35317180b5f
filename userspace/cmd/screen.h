/* SPDX-License-Identifier: GPL-2.0 */
/* What "mpdpa top" shows, drawn into a file. */
#ifndef MPDPA_CMD_SCREEN_H
#define MPDPA_CMD_SCREEN_H

#include <stdbool.h>
#include <stdio.h>

#include "rates.h"

struct screen {
	unsigned int width;
	unsigned int height;	/* 0: as many lines as there are */
	bool ansi;		/* colours, and each line cleared to its end */
	const char *clock;	/* the time of day */
	const char *where;	/* the network namespace's name */
};

#define SCREEN_WIDTH_MIN	80
#define SCREEN_HEIGHT_MIN	5

/* "earlier" is the look before, for counts a second; it may be empty. */
void screen_draw(FILE *out, const struct screen *screen, const struct look *look,
		 const struct look *earlier);

#endif /* MPDPA_CMD_SCREEN_H */
