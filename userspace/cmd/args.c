// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/mptcp_dpa.h>

#include "args.h"

bool args_complain(struct args *args, const char *format, ...)
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
		args_complain(args, "\"%s\" needs %s", keyword, what);
	return value;
}

static bool no_number(struct args *args, const char *keyword, const char *word,
		      const char *expected)
{
	return args_complain(args, "\"%s\" is not a number for \"%s\", expected %s", word, keyword,
			     expected);
}

/* The digits that a word begins with; errno tells whether they are too many. */
static bool read_digits(const char *word, uint64_t *value, const char **rest)
{
	char *end;

	/* strtoull() would take a sign and leading blanks. */
	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*value = strtoull(word, &end, 10);
	*rest = end;
	return true;
}

bool args_number(struct args *args, const char *keyword, uint32_t min, uint32_t max,
		 uint32_t *number)
{
	const char *word = args_value(args, keyword, "a number"), *rest;
	uint64_t value;

	if (!word)
		return false;
	if (!read_digits(word, &value, &rest) || *rest)
		return no_number(args, keyword, word, "a whole one");
	if (errno || value < min || value > max)
		return args_complain(args, "\"%s %s\" is out of range, %u to %u", keyword, word, min,
				max);
	*number = value;
	return true;
}

bool args_label(struct args *args, const char *keyword, uint64_t *label)
{
	const char *word = args_value(args, keyword, "a number"), *rest;

	if (!word)
		return false;
	if (!read_digits(word, label, &rest) || *rest)
		return no_number(args, keyword, word, "a whole one");
	return errno ? args_complain(args, "\"%s %s\" is out of range", keyword, word) : true;
}

bool args_amount(struct args *args, const char *keyword, uint64_t *amount)
{
	static const struct {
		char suffix;
		uint64_t unit;
	} units[] = { { '\0', 1 }, { 'k', 1000 }, { 'M', 1000000 }, { 'G', 1000000000 } };
	const char *expected = "a whole one, such as 1500, 20k, 5M or 2G";
	const char *word = args_value(args, keyword, "a number"), *rest;
	uint64_t value;
	size_t i;

	if (!word)
		return false;
	if (!read_digits(word, &value, &rest))
		return no_number(args, keyword, word, expected);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (*rest != units[i].suffix || (*rest && rest[1]))
			continue;
		if (errno || value > UINT64_MAX / units[i].unit)
			return args_complain(args, "\"%s %s\" is out of range", keyword, word);
		*amount = value * units[i].unit;
		return true;
	}
	return no_number(args, keyword, word, expected);
}

/* A decimal fraction as a whole number of the unit, and what follows it. */
static bool read_fraction(const char *word, uint64_t unit, uint64_t *value, const char **rest)
{
	uint64_t whole = 0;
	unsigned int digits = 0;

	*value = 0;
	for (; isdigit((unsigned char)*word); word++, digits++) {
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *word - '0', &whole))
			return false;
	}
	if (!digits || __builtin_mul_overflow(whole, unit, &whole))
		return false;
	if (*word == '.') {
		for (word++; isdigit((unsigned char)*word); word++) {
			/* finer than the result can tell, from here to the end */
			if (unit % 10) {
				if (*word != '0')
					return false;
				continue;
			}
			unit /= 10;
			*value += (*word - '0') * unit;
		}
	}
	*rest = word;
	return !__builtin_add_overflow(*value, whole, value);
}

bool args_milli(struct args *args, const char *keyword, uint32_t *milli)
{
	const char *word = args_value(args, keyword, "a number"), *rest;
	uint64_t value;

	if (!word)
		return false;
	if (!read_fraction(word, 1000, &value, &rest) || *rest || value > UINT32_MAX)
		return args_complain(args, "\"%s\" is not a number of at most three decimals "
				     "for \"%s\", such as 0.8", word, keyword);
	*milli = value;
	return true;
}

bool args_duration(struct args *args, const char *keyword, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "min", 60000000000 }, { "h", 3600000000000 },
	};
	const char *word = args_value(args, keyword, "a length of time");
	size_t i;

	if (!word)
		return false;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const char *rest;

		if (read_fraction(word, units[i].ns, ns, &rest) && !strcmp(rest, units[i].suffix))
			return true;
	}
	return args_complain(args, "\"%s\" is no length of time for \"%s\", expected a number with "
			     "ns, us, ms, s, min or h, such as 1.5s", word, keyword);
}

bool args_token(struct args *args, const char *keyword, uint32_t *token)
{
	const char *word = args_value(args, keyword, "a token");
	unsigned long value;
	char *end;

	if (!word)
		return false;
	errno = 0;
	value = isxdigit((unsigned char)word[0]) ? strtoul(word, &end, 16) : 0;
	if (!value || errno || *end || value > UINT32_MAX)
		return args_complain(args, "\"%s\" is no token for \"%s\", such as 5f1c2a3b", word,
				     keyword);
	*token = value;
	return true;
}

bool args_end(struct args *args)
{
	if (args_peek(args))
		return args_complain(args, "unexpected word \"%s\"", args_peek(args));
	return true;
}

static bool take_dev(struct args *args, struct path_words *path)
{
	if (path->dev)
		return args_complain(args, "\"dev\" given twice");
	path->dev = args_value(args, "dev", "an interface");
	if (!path->dev)
		return false;
	if (!path->dev[0] || strlen(path->dev) >= IF_NAMESIZE)
		return args_complain(args, "\"%s\" is not an interface name", path->dev);
	return true;
}

static bool take_endpoint(struct args *args, struct path_words *path)
{
	if (path->endpoint)
		return args_complain(args, "\"endpoint\" given twice");
	return args_number(args, "endpoint", 1, PATH_ENDPOINT_MAX, &path->endpoint);
}

static bool take_addr(struct args *args, struct path_words *path)
{
	static const char unspecified[sizeof(struct in6_addr)];
	char address[sizeof(unspecified)] = { 0 };

	if (path->addr)
		return args_complain(args, "\"addr\" given twice");
	path->addr = args_value(args, "addr", "an address");
	if (!path->addr)
		return false;
	if (inet_pton(AF_INET, path->addr, address) != 1 &&
	    inet_pton(AF_INET6, path->addr, address) != 1)
		return args_complain(args, "\"%s\" is not an IP address", path->addr);
	if (!memcmp(address, unspecified, sizeof(unspecified)))
		return args_complain(args, "\"%s\" is no host's address", path->addr);
	return true;
}

static bool take_cost(struct args *args, unsigned int need, struct path_words *path)
{
	if (path->has_cost)
		return args_complain(args, "\"cost\" given twice");
	path->has_cost = true;
	if ((need & PATH_PREF) && args_accept(args, "forbidden")) {
		path->cost = MPTCP_DPA_COST_FORBIDDEN;
		return true;
	}
	if ((need & PATH_PREF) && args_accept(args, "none"))
		return true;
	return args_number(args, "cost", 1, MPTCP_DPA_COST_MAX, &path->cost);
}

bool path_words_accept(struct args *args, unsigned int need, struct path_words *path, bool *good)
{
	if (args_accept(args, "dev"))
		*good = take_dev(args, path);
	else if (args_accept(args, "endpoint"))
		*good = take_endpoint(args, path);
	else if (args_accept(args, "addr"))
		*good = take_addr(args, path);
	else if ((need & PATH_COST) && args_accept(args, "cost"))
		*good = take_cost(args, need, path);
	else
		return false;
	return true;
}

bool path_words_complete(struct args *args, unsigned int need, const struct path_words *path)
{
	int count = !!path->dev + !!path->endpoint + !!path->addr;

	if (count > 1)
		return args_complain(args, "give one of \"dev\", \"endpoint\" and \"addr\", not both");
	if ((need & PATH_NAME) && !count)
		return args_complain(args,
				     "which path? give \"dev IFACE\", \"endpoint ID\" or \"addr ADDRESS\"");
	if ((need & PATH_COST) && !path->has_cost)
		return args_complain(args, "what cost? give \"cost N\"");
	return true;
}

bool path_words_parse(struct args *args, unsigned int need, struct path_words *path)
{
	bool good = true;

	*path = (struct path_words){ 0 };
	while (good && args_peek(args)) {
		if (!path_words_accept(args, need, path, &good))
			good = args_end(args);
	}
	return good && path_words_complete(args, need, path);
}
