// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

__attribute__((format(printf, 2, 3)))
static bool complain(struct args *args, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(args->error, sizeof(args->error), format, list);
	va_end(list);
	return false;
}

const char *args_peek(const struct args *args)
{
	return args->count > 0 ? args->words[0] : NULL;
}

const char *args_take(struct args *args)
{
	const char *word = args_peek(args);

	if (word) {
		args->words++;
		args->count--;
	}
	return word;
}

bool args_accept(struct args *args, const char *word)
{
	const char *next = args_peek(args);

	if (!next || strcmp(next, word))
		return false;
	args_take(args);
	return true;
}

const char *args_value(struct args *args, const char *keyword, const char *what)
{
	const char *value = args_take(args);

	if (!value)
		complain(args, "\"%s\" needs %s", keyword, what);
	return value;
}

bool args_number(struct args *args, const char *keyword, uint32_t min, uint32_t max,
		 uint32_t *number)
{
	const char *word = args_value(args, keyword, "a number");
	unsigned long long value;
	char *end;

	if (!word)
		return false;
	/* strtoull() would take a sign and leading blanks. */
	if (!isdigit((unsigned char)word[0]))
		return complain(args, "\"%s\" is not a number for \"%s\"", word, keyword);
	errno = 0;
	value = strtoull(word, &end, 10);
	if (*end)
		return complain(args, "\"%s\" is not a number for \"%s\"", word, keyword);
	if (errno || value < min || value > max)
		return complain(args, "\"%s %s\" is out of range, %u to %u", keyword, word, min,
				max);
	*number = value;
	return true;
}

bool args_end(struct args *args)
{
	if (args_peek(args))
		return complain(args, "unexpected word \"%s\"", args_peek(args));
	return true;
}

static bool take_dev(struct args *args, struct path_words *path)
{
	if (path->dev)
		return complain(args, "\"dev\" given twice");
	path->dev = args_value(args, "dev", "an interface");
	if (!path->dev)
		return false;
	if (!path->dev[0] || strlen(path->dev) >= IF_NAMESIZE)
		return complain(args, "\"%s\" is not an interface name", path->dev);
	return true;
}

static bool take_endpoint(struct args *args, struct path_words *path)
{
	if (path->endpoint)
		return complain(args, "\"endpoint\" given twice");
	return args_number(args, "endpoint", 1, PATH_ENDPOINT_MAX, &path->endpoint);
}

static bool take_cost(struct args *args, struct path_words *path)
{
	if (path->cost)
		return complain(args, "\"cost\" given twice");
	return args_number(args, "cost", 1, PATH_COST_MAX, &path->cost);
}

static bool path_words_complete(struct args *args, unsigned int need,
				const struct path_words *path)
{
	if (path->dev && path->endpoint)
		return complain(args, "give \"dev\" or \"endpoint\", not both");
	if ((need & PATH_NAME) && !path->dev && !path->endpoint)
		return complain(args, "which path? give \"dev IFACE\" or \"endpoint ID\"");
	if ((need & PATH_COST) && !path->cost)
		return complain(args, "what cost? give \"cost N\"");
	return true;
}

bool path_words_parse(struct args *args, unsigned int need, struct path_words *path)
{
	*path = (struct path_words){ 0 };
	while (args_peek(args)) {
		bool good;

		if (args_accept(args, "dev"))
			good = take_dev(args, path);
		else if (args_accept(args, "endpoint"))
			good = take_endpoint(args, path);
		else if ((need & PATH_COST) && args_accept(args, "cost"))
			good = take_cost(args, path);
		else
			good = args_end(args);
		if (!good)
			return false;
	}
	return path_words_complete(args, need, path);
}
