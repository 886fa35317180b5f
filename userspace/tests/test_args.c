// SPDX-License-Identifier: GPL-2.0
/* Words and options of the command line. */
#include <string.h>

#include "args.h"
#include "options.h"
#include "tap.h"

#define WORDS_MAX	12

/* Cuts a line up at its blanks. */
static int split(char *line, char **words)
{
	char *word, *rest = line;
	int count = 0;

	while ((word = strsep(&rest, " ")) && count < WORDS_MAX)
		words[count++] = word;
	words[count] = NULL;
	return count;
}

static const struct {
	const char *line;
	unsigned int need;
	bool good;
	const char *dev;	/* or the error, if not good */
	uint32_t endpoint, cost;
	const char *addr;
} path_cases[] = {
	{ "dev eth1 cost 10", PATH_NAME | PATH_COST, true, "eth1", 0, 10, NULL },
	{ "cost 10 dev eth1", PATH_NAME | PATH_COST, true, "eth1", 0, 10, NULL },
	{ "endpoint 3 cost 1000000", PATH_NAME | PATH_COST, true, NULL, 3, 1000000, NULL },
	{ "dev cost cost 1", PATH_NAME | PATH_COST, true, "cost", 0, 1, NULL },
	{ "dev eth1", PATH_NAME, true, "eth1", 0, 0, NULL },
	{ "endpoint 255", 0, true, NULL, 255, 0, NULL },
	{ "", PATH_NAME, false, "unexpected word", 0, 0, NULL },
	{ "dev", PATH_NAME, false, "needs an interface", 0, 0, NULL },
	{ "dev an-interface-name-too-long", PATH_NAME, false, "not an interface", 0, 0, NULL },
	{ "dev a dev b", PATH_NAME, false, "twice", 0, 0, NULL },
	{ "dev a endpoint 1", PATH_NAME, false, "not both", 0, 0, NULL },
	{ "cost 3", PATH_NAME | PATH_COST, false, "which path", 0, 0, NULL },
	{ "dev eth1", PATH_NAME | PATH_COST, false, "what cost", 0, 0, NULL },
	{ "dev eth1 cost 3", PATH_NAME, false, "unexpected word \"cost\"", 0, 0, NULL },
	{ "dev eth1 cost 3 cost 4", PATH_NAME | PATH_COST, false, "twice", 0, 0, NULL },
	{ "dev eth1 cost 0", PATH_NAME | PATH_COST, false, "out of range, 1 to", 0, 0, NULL },
	{ "dev eth1 cost 1000001", PATH_NAME | PATH_COST, false, "out of range", 0, 0, NULL },
	{ "dev eth1 cost 99999999999999999999999", PATH_NAME | PATH_COST, false, "out of range",
	  0, 0, NULL },
	{ "dev eth1 cost -3", PATH_NAME | PATH_COST, false, "not a number", 0, 0, NULL },
	{ "dev eth1 cost +3", PATH_NAME | PATH_COST, false, "not a number", 0, 0, NULL },
	{ "dev eth1 cost 3x", PATH_NAME | PATH_COST, false, "not a number", 0, 0, NULL },
	{ "dev eth1 cost 0x3", PATH_NAME | PATH_COST, false, "not a number", 0, 0, NULL },
	{ "dev eth1 cost", PATH_NAME | PATH_COST, false, "needs a number", 0, 0, NULL },
	{ "endpoint 0", PATH_NAME, false, "out of range, 1 to 255", 0, 0, NULL },
	{ "endpoint 256", PATH_NAME, false, "out of range", 0, 0, NULL },
	{ "addr 10.0.0.1 cost 3", PATH_NAME | PATH_COST, true, NULL, 0, 3, "10.0.0.1" },
	{ "addr fd00::1", PATH_NAME, true, NULL, 0, 0, "fd00::1" },
	{ "addr 10.0.0", PATH_NAME, false, "not an IP address", 0, 0, NULL },
	{ "addr 0.0.0.0 cost 3", PATH_NAME | PATH_COST, false, "no host's address", 0, 0, NULL },
	{ "addr ::", PATH_NAME, false, "no host's address", 0, 0, NULL },
	{ "addr ::1 dev a", PATH_NAME, false, "not both", 0, 0, NULL },
	{ "addr ::1 addr ::2", PATH_NAME, false, "twice", 0, 0, NULL },
	{ "dev a cost forbidden", PATH_NAME | PATH_COST, false, "not a number", 0, 0, NULL },
	{ "dev a cost forbidden", PATH_NAME | PATH_COST | PATH_PREF, true, "a", 0, UINT32_MAX,
	  NULL },
	{ "dev a cost none", PATH_NAME | PATH_COST | PATH_PREF, true, "a", 0, 0, NULL },
	{ "via 3", 0, false, "unexpected word \"via\"", 0, 0, NULL },
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_path_words(void)
{
	size_t i;

	for (i = 0; i < sizeof(path_cases) / sizeof(path_cases[0]); i++) {
		char line[80], *words[WORDS_MAX + 1];
		struct path_words path;
		struct args args = { .words = words };
		bool good;

		strcpy(line, path_cases[i].line);
		args.count = split(line, words);
		good = path_words_parse(&args, path_cases[i].need, &path);
		if (!good)
			good = !path_cases[i].good && strstr(args.error, path_cases[i].dev);
		else
			good = path_cases[i].good && same(path.dev, path_cases[i].dev) &&
			       same(path.addr, path_cases[i].addr) &&
			       path.endpoint == path_cases[i].endpoint &&
			       path.cost == path_cases[i].cost;
		ok(good, "path words \"%s\": %s", path_cases[i].line, args.error);
	}
}

static void test_no_words(void)
{
	struct args args = { 0 };
	struct path_words path;

	ok(path_words_parse(&args, 0, &path), "no words where none are needed");
	ok(!path_words_parse(&args, PATH_NAME, &path) && strstr(args.error, "which path"),
	   "no words where a path is needed");
	ok(!args_take(&args) && !args_peek(&args) && args_end(&args), "nothing left to take");
}

/* Parses "mpdpa" and a line; the words must come to "words". */
static bool parse(const char *line, struct options *options, struct args *args)
{
	static char copy[120], *argv[WORDS_MAX + 2];

	strcpy(copy, line);
	argv[0] = (char *)"mpdpa";
	return options_parse(1 + split(copy, argv + 1), argv, options, args);
}

static void test_options(void)
{
	struct options options;
	struct args args;

	ok(parse("-j path show", &options, &args) && options.json && args.count == 2 &&
	   same(args.words[0], "path"), "an option before the command");
	ok(parse("path show -j", &options, &args) && options.json && args.count == 2,
	   "an option behind the command");
	ok(parse("-n a status", &options, &args) && same(options.netns, "a") && args.count == 1,
	   "an option with a value");
	ok(parse("status --netns=b", &options, &args) && same(options.netns, "b"),
	   "a long option with a value");
	ok(parse("load -vv --object x --cgroup /c", &options, &args) && options.verbose == 2 &&
	   same(options.object, "x") && same(options.cgroup, "/c"), "the options of load");
	ok(parse("path -- -j", &options, &args) && !options.json && args.count == 2,
	   "words behind --");
	ok(parse("-V", &options, &args) && options.version, "version");
	ok(parse("load --help", &options, &args) && options.help, "help");
	ok(!parse("-x status", &options, &args) && strstr(args.error, "\"-x\" is not known"),
	   "unknown: %s", args.error);
	ok(!parse("--nothing status", &options, &args) && strstr(args.error, "\"--nothing\""),
	   "unknown: %s", args.error);
	ok(!parse("status -n", &options, &args) && strstr(args.error, "\"-n\" needs a value"),
	   "no value: %s", args.error);
	ok(!parse("status --netns", &options, &args) && strstr(args.error, "\"--netns\" needs"),
	   "no value: %s", args.error);
	ok(!parse("--json=x status", &options, &args) &&
	   strstr(args.error, "\"--json=x\" takes no value"), "a value too many: %s", args.error);
	ok(!parse("load --no-sockopt=x", &options, &args) &&
	   strstr(args.error, "\"--no-sockopt=x\" takes no value"), "a value too many: %s", args.error);
	ok(!parse("--json -jx status", &options, &args) && strstr(args.error, "\"-x\" is not known"),
	   "unknown, among others: %s", args.error);
	ok(!parse("load --object", &options, &args) && strstr(args.error, "\"--object\" needs"),
	   "no value: %s", args.error);
}

int main(void)
{
	test_path_words();
	test_no_words();
	test_options();
	return tap_end();
}
