// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

enum { OPT_OBJECT = 256, OPT_CGROUP, OPT_NO_SOCKOPT };

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "netns", required_argument, NULL, 'n' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ "timestamps", no_argument, NULL, 't' },
	{ "delay", required_argument, NULL, 'd' },
	{ "once", no_argument, NULL, '1' },
	{ "object", required_argument, NULL, OPT_OBJECT },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "no-sockopt", no_argument, NULL, OPT_NO_SOCKOPT },
	{ NULL, 0, NULL, 0 },
};

/* Of two values one would go unheard. */
static bool set_once(const char **value)
{
	bool first = !*value;

	*value = optarg;
	return first;
}

static bool apply(int option, struct options *options)
{
	switch (option) {
	case 'j':
		options->json = true;
		return true;
	case 'n':
		return set_once(&options->netns);
	case 'v':
		options->verbose++;
		return true;
	case 'V':
		options->version = true;
		return true;
	case 'h':
		options->help = true;
		return true;
	case 't':
		options->timestamps = true;
		return true;
	case 'd':
		return set_once(&options->delay);
	case '1':
		options->once = true;
		return true;
	case OPT_OBJECT:
		return set_once(&options->object);
	case OPT_CGROUP:
		return set_once(&options->cgroup);
	case OPT_NO_SOCKOPT:
		options->no_sockopt = true;
		return true;
	}
	return false;
}

static const char *name_of(int value)
{
	const struct option *option;

	for (option = long_options; option->name; option++) {
		if (option->val == value)
			return option->name;
	}
	return NULL;
}

/* getopt has moved on by now, but a long option is still right behind it. */
static void complain(int option, char **argv, struct args *args)
{
	const char *behind = argv[optind - 1];
	const char *problem = "is not known";
	bool is_long = !optopt;

	if (name_of(option)) {
		args_complain(args, "option \"--%s\" given twice", name_of(option));
		return;
	}
	if (option == ':') {
		problem = "needs a value";
		is_long = !strncmp(behind, "--", 2);
	} else if (name_of(optopt)) {
		problem = "takes no value";
		is_long = true;
	}
	if (is_long)
		snprintf(args->error, sizeof(args->error), "option \"%s\" %s", behind, problem);
	else
		snprintf(args->error, sizeof(args->error), "option \"-%c\" %s", optopt, problem);
}

bool options_parse(int argc, char **argv, struct options *options, struct args *args)
{
	int option;

	*options = (struct options){ 0 };
	*args = (struct args){ 0 };
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, ":jn:vVhtd:1", long_options, NULL)) != -1) {
		if (!apply(option, options)) {
			complain(option, argv, args);
			return false;
		}
	}
	args->count = argc - optind;
	args->words = argv + optind;
	return true;
}
