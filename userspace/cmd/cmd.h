/* SPDX-License-Identifier: GPL-2.0 */
/* What the command's parts share. */
#ifndef MPDPA_CMD_H
#define MPDPA_CMD_H

#include "args.h"
#include "options.h"

enum {
	MPDPA_EXIT_OK = 0,
	MPDPA_EXIT_REFUSED = 1,	/* the kernel or the system says no */
	MPDPA_EXIT_USAGE = 2,
};

/* Options that not every command takes. */
enum {
	TAKES_NETNS = 1 << 0,
	TAKES_JSON = 1 << 1,
	TAKES_LOAD = 1 << 2,
	TAKES_STAMPS = 1 << 3,
	TAKES_SCREEN = 1 << 4,
};

struct command {
	const char *name;
	const char *summary;
	const char *help;
	unsigned int takes;
	int (*run)(const struct options *options, struct args *args);
};

extern const struct command command_load;
extern const struct command command_unload;
extern const struct command command_status;
extern const struct command command_path;
extern const struct command command_conn;
extern const struct command command_show;
extern const struct command command_stat;
extern const struct command command_monitor;
extern const struct command command_top;
extern const struct command command_doctor;

/* Print "mpdpa: ..." to stderr; the value is the exit status to return. */
__attribute__((format(printf, 1, 2)))
int refused(const char *format, ...);
__attribute__((format(printf, 1, 2)))
int misused(const char *format, ...);

#endif /* MPDPA_CMD_H */
