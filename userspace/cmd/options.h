/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MPDPA_CMD_OPTIONS_H
#define MPDPA_CMD_OPTIONS_H

#include <stdbool.h>

#include "args.h"

struct options {
	bool json;
	bool help;
	bool version;
	bool no_sockopt;
	bool timestamps;
	bool once;
	int verbose;
	const char *netns;
	const char *object;
	const char *cgroup;
	const char *delay;
};

/*
 * Takes the options out of a command line, wherever they stand, and leaves the
 * words. False if one is unknown or lacks its value: args->error says which.
 */
bool options_parse(int argc, char **argv, struct options *options, struct args *args);

#endif /* MPDPA_CMD_OPTIONS_H */
