// SPDX-License-Identifier: GPL-2.0
/* mpdpa path: what a byte costs on each path of a network namespace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "grow.h"
#include "json.h"
#include "module.h"
#include "pathname.h"

#define LIST_TRIES	5

/* All costs that were set, or those of one path. */
struct row {
	struct mpdpa_path path;
	struct mpdpa_limits limits;
};

struct listing {
	size_t count, room;
	struct row *rows;
};

static int resolve(const struct path_words *words, struct mpdpa_path *path)
{
	if (!pathname_resolve(words, path))
		return refused("path: no interface \"%s\"", words->dev);
	return MPDPA_EXIT_OK;
}

/* "none", or bytes and the words behind them that belong to them. */
static bool take_quota(struct args *args, struct mpdpa_limits *limits)
{
	if (limits->what & MPDPA_LIMIT_QUOTA)
		return args_complain(args, "\"quota\" given twice");
	limits->what |= MPDPA_LIMIT_QUOTA;
	if (args_accept(args, "none"))
		return true;
	if (!args_amount(args, "quota", &limits->quota_bytes))
		return false;
	if (!limits->quota_bytes)
		return args_complain(args, "a quota of 0 bytes; \"none\" takes it away");
	if (!args_accept(args, "per"))
		return args_complain(args, "a quota for how long? give \"per TIME\"");
	if (!args_duration(args, "per", &limits->quota_period_ns))
		return false;
	if (args_accept(args, "soft"))
		limits->flags |= MPDPA_QUOTA_SOFT;
	return true;
}

static bool take_cheap_rate(struct args *args, struct mpdpa_limits *limits)
{
	if (limits->what & MPDPA_LIMIT_CHEAP_RATE)
		return args_complain(args, "\"cheap-rate\" given twice");
	limits->what |= MPDPA_LIMIT_CHEAP_RATE;
	if (args_accept(args, "none"))
		return true;
	if (!args_amount(args, "cheap-rate", &limits->cheap_rate))
		return false;
	return limits->cheap_rate ? true :
	       args_complain(args, "a rate of 0; \"none\" takes it away");
}

/* A path, its cost and limits. */
static bool parse_set(struct args *args, struct path_words *words, struct mpdpa_limits *limits)
{
	const unsigned int need = PATH_NAME | PATH_COST;
	bool good = true;

	*words = (struct path_words){ 0 };
	*limits = (struct mpdpa_limits){ 0 };
	while (good && args_peek(args)) {
		if (args_accept(args, "quota"))
			good = take_quota(args, limits);
		else if (args_accept(args, "cheap-rate"))
			good = take_cheap_rate(args, limits);
		else if (!path_words_accept(args, need, words, &good))
			good = args_end(args);
	}
	return good && path_words_complete(args, need, words);
}

static int refuse_change(struct mpdpa_ctl *ctl, bool set, int err)
{
	if (!mpdpa_ctl_message(ctl)[0]) {
		if (err == -ENOENT && !set)
			return refused("path del: this path has no cost of its own");
		if (err == -ENOSPC)
			return refused("path set: this namespace has as many costs as it can have");
	}
	return module_refused(ctl, set ? "path set" : "path del", err);
}

static int path_change(struct args *args, bool set)
{
	struct mpdpa_limits limits;
	struct path_words words;
	struct mpdpa_path path;
	struct mpdpa_ctl *ctl;
	int err;

	if (!(set ? parse_set(args, &words, &limits) :
		    path_words_parse(args, PATH_NAME, &words)))
		return misused("path %s: %s", set ? "set" : "del", args->error);
	err = module_connect("path", &ctl);
	if (err)
		return err;
	err = resolve(&words, &path);
	if (!err) {
		err = set ? mpdpa_path_limit(ctl, &path, &limits, sizeof(limits)) :
			    mpdpa_path_del(ctl, &path);
		if (err)
			err = refuse_change(ctl, set, err);
	}
	mpdpa_ctl_close(ctl);
	return err;
}

static int keep(const struct mpdpa_path *path, void *data)
{
	struct listing *listing = data;
	struct row *rows = grow(listing->rows, listing->count, &listing->room, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	listing->rows = rows;
	listing->rows[listing->count++] = (struct row){ .path = *path };
	return 0;
}

/* Reads until nobody changed anything meanwhile. */
static int read_all(struct mpdpa_ctl *ctl, struct listing *listing)
{
	int err, tries = LIST_TRIES;

	do {
		listing->count = 0;
		err = mpdpa_path_list(ctl, keep, listing);
	} while (err == -EINTR && --tries);
	return err;
}

/* A path that is gone by now has none. */
static int read_limits(struct mpdpa_ctl *ctl, struct listing *listing)
{
	size_t i;

	for (i = 0; i < listing->count; i++) {
		struct row *row = &listing->rows[i];
		int err = mpdpa_path_limits(ctl, &row->path, &row->limits, sizeof(row->limits));

		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

static void limits_text(const struct mpdpa_limits *limits)
{
	if (limits->what & MPDPA_LIMIT_QUOTA)
		printf(" quota %" PRIu64 " per %" PRIu64 ".%03" PRIu64 "s%s spent %" PRIu64,
		       limits->quota_bytes, limits->quota_period_ns / 1000000000,
		       limits->quota_period_ns / 1000000 % 1000,
		       limits->flags & MPDPA_QUOTA_SOFT ? " soft" : "", limits->quota_spent);
	if (limits->what & MPDPA_LIMIT_CHEAP_RATE)
		printf(" cheap-rate %" PRIu64, limits->cheap_rate);
}

static void limits_json(struct json *json, const struct mpdpa_limits *limits)
{
	if (limits->what & MPDPA_LIMIT_QUOTA) {
		json_object(json, "quota");
		json_number(json, "bytes", limits->quota_bytes);
		json_number(json, "period_ns", limits->quota_period_ns);
		json_number(json, "spent", limits->quota_spent);
		json_bool(json, "soft", limits->flags & MPDPA_QUOTA_SOFT);
		json_object_end(json);
	}
	if (limits->what & MPDPA_LIMIT_CHEAP_RATE)
		json_number(json, "cheap_rate", limits->cheap_rate);
}

static void show_text(const struct listing *listing)
{
	char name[PATHNAME_SIZE];
	size_t i;

	for (i = 0; i < listing->count; i++) {
		const struct row *row = &listing->rows[i];

		printf("%s cost %u", pathname_text(&row->path, name), row->path.cost);
		limits_text(&row->limits);
		printf("\n");
	}
}

static void show_json(const struct listing *listing)
{
	struct json json;
	size_t i;

	json_begin(&json, stdout);
	json_array(&json, NULL);
	for (i = 0; i < listing->count; i++) {
		json_object(&json, NULL);
		pathname_json(&json, &listing->rows[i].path);
		limits_json(&json, &listing->rows[i].limits);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_end(&json);
}

static int read_one(struct mpdpa_ctl *ctl, const struct path_words *words,
		    struct listing *listing)
{
	struct mpdpa_path path;
	int err = resolve(words, &path);

	if (err)
		return err;
	err = mpdpa_path_get(ctl, &path);
	if (err == -ENOENT && !mpdpa_ctl_message(ctl)[0])
		return refused("path show: this path has no cost of its own");
	if (!err)
		err = keep(&path, listing);
	return err ? module_refused(ctl, "path show", err) : MPDPA_EXIT_OK;
}

/* Costs and limits; of what fails it has told. */
static int read_listing(struct mpdpa_ctl *ctl, const struct path_words *words,
			struct listing *listing)
{
	int err;

	if (words->dev || words->endpoint || words->addr) {
		err = read_one(ctl, words, listing);
		if (err)
			return err;
	} else {
		err = read_all(ctl, listing);
		if (err == -EINTR)
			return refused("path show: costs were changed all the while, try again");
	}
	if (!err)
		err = read_limits(ctl, listing);
	return err ? module_refused(ctl, "path show", err) : MPDPA_EXIT_OK;
}

static int path_show(const struct options *options, struct args *args)
{
	struct listing listing = {};
	struct path_words words;
	struct mpdpa_ctl *ctl;
	int err;

	if (!path_words_parse(args, 0, &words))
		return misused("path show: %s", args->error);
	err = module_connect("path", &ctl);
	if (err)
		return err;
	err = read_listing(ctl, &words, &listing);
	mpdpa_ctl_close(ctl);
	if (!err && options->json)
		show_json(&listing);
	else if (!err)
		show_text(&listing);
	free(listing.rows);
	return err;
}

static int path_run(const struct options *options, struct args *args)
{
	const char *verb = args_take(args);

	if (!verb || !strcmp(verb, "show"))
		return path_show(options, args);
	if (strcmp(verb, "set") && strcmp(verb, "del"))
		return misused("path: no action \"%s\"; set, del or show", verb);
	if (options->json)
		return misused("path %s: shows nothing, --json has no place there", verb);
	return path_change(args, !strcmp(verb, "set"));
}

const struct command command_path = {
	.name = "path",
	.summary = "what a byte costs on each path",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = path_run,
	.help =
	"Usage: mpdpa path set PATH cost N [ quota { BYTES per TIME [ soft ] | none } ]\n"
	"                                  [ cheap-rate { RATE | none } ]\n"
	"       mpdpa path del PATH\n"
	"       mpdpa path [ show [ PATH ] ]\n"
	"       PATH := { dev IFACE | endpoint ID | addr ADDRESS }\n"
	"\n"
	"Sets, removes or shows what a byte costs on a path of this network namespace.\n"
	"A path is an MPTCP endpoint (its ID as in \"ip mptcp endpoint\"), a local IP\n"
	"address or a network interface. A subflow takes the cost of its endpoint, else\n"
	"that of its address, else that of its interface, else 2 if its endpoint is\n"
	"flagged backup or the peer asked for that, else 1. Quota and cheap rate are\n"
	"those of the name that gave the cost.\n"
	"\n"
	"  dev IFACE      the interface that carries the subflow\n"
	"  endpoint ID    1 to 255\n"
	"  addr ADDRESS   the subflow's local address, IPv4 or IPv6\n"
	"  cost N         1 to 1000000; only order and ratio matter\n"
	"  quota BYTES    deadlines and overflow put no more (5M, 2G) on it in\n"
	"                 TIME (1s to a year), all connections together; with \"soft\"\n"
	"                 they do, and that is told (mpdpa monitor)\n"
	"  cheap-rate N   it counts for no more than N bytes a second: costlier paths\n"
	"                 carry what is more\n"
	"\n"
	"\"show\" lists the costs that were set. Options: -j, -n NAME.\n"
	"\n"
	"  mpdpa path set dev wwan0 cost 10\n"
	"  mpdpa path set dev wwan0 cost 10 quota 1G per 24h\n"
	"  mpdpa -n client path show\n",
};
