// SPDX-License-Identifier: GPL-2.0
/* mpdpa path: what a byte costs on each path of a network namespace. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "module.h"
#include "pathname.h"

#define LIST_TRIES	5
#define LIST_MAX	1024

/* All costs that were set, or those of one path. */
struct listing {
	unsigned int count;
	struct mpdpa_path paths[LIST_MAX];
};

static int resolve(const struct path_words *words, struct mpdpa_path *path)
{
	if (!pathname_resolve(words, path))
		return refused("path: no interface \"%s\"", words->dev);
	return MPDPA_EXIT_OK;
}

static int path_change(struct args *args, bool set)
{
	const char *what = set ? "path set" : "path del";
	struct path_words words;
	struct mpdpa_path path;
	struct mpdpa_ctl *ctl;
	int err;

	if (!path_words_parse(args, set ? PATH_NAME | PATH_COST : PATH_NAME, &words))
		return misused("%s: %s", what, args->error);
	err = module_connect("path", &ctl);
	if (err)
		return err;
	err = resolve(&words, &path);
	if (!err) {
		err = set ? mpdpa_path_set(ctl, &path) : mpdpa_path_del(ctl, &path);
		if (err == -ENOENT && !set && !mpdpa_ctl_message(ctl)[0])
			err = refused("path del: this path has no cost of its own");
		else if (err)
			err = module_refused(ctl, what, err);
	}
	mpdpa_ctl_close(ctl);
	return err;
}

static int keep(const struct mpdpa_path *path, void *data)
{
	struct listing *listing = data;

	if (listing->count == LIST_MAX)
		return -E2BIG;
	listing->paths[listing->count++] = *path;
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

static void show_text(const struct listing *listing)
{
	char name[PATHNAME_SIZE];
	unsigned int i;

	for (i = 0; i < listing->count; i++)
		printf("%s cost %u\n", pathname_text(&listing->paths[i], name),
		       listing->paths[i].cost);
}

static void show_json(const struct listing *listing)
{
	struct json json;
	unsigned int i;

	json_begin(&json, stdout);
	json_array(&json, NULL);
	for (i = 0; i < listing->count; i++) {
		json_object(&json, NULL);
		pathname_json(&json, &listing->paths[i]);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_end(&json);
}

static int read_one(struct mpdpa_ctl *ctl, const struct path_words *words,
		    struct listing *listing)
{
	int err = resolve(words, &listing->paths[0]);

	if (err)
		return err;
	err = mpdpa_path_get(ctl, &listing->paths[0]);
	if (err == -ENOENT && !mpdpa_ctl_message(ctl)[0])
		return refused("path show: this path has no cost of its own");
	if (err)
		return module_refused(ctl, "path show", err);
	listing->count = 1;
	return MPDPA_EXIT_OK;
}

static int path_show(const struct options *options, struct args *args)
{
	static struct listing listing;
	struct path_words words;
	struct mpdpa_ctl *ctl;
	int err;

	if (!path_words_parse(args, 0, &words))
		return misused("path show: %s", args->error);
	err = module_connect("path", &ctl);
	if (err)
		return err;
	if (words.dev || words.endpoint || words.addr) {
		err = read_one(ctl, &words, &listing);
	} else {
		err = read_all(ctl, &listing);
		if (err)
			err = module_refused(ctl, "path show", err);
	}
	mpdpa_ctl_close(ctl);
	if (err)
		return err;
	if (options->json)
		show_json(&listing);
	else
		show_text(&listing);
	return MPDPA_EXIT_OK;
}

static int path_run(const struct options *options, struct args *args)
{
	const char *verb = args_take(args);

	if (!verb || !strcmp(verb, "show"))
		return path_show(options, args);
	if (options->json)
		return misused("path %s: shows nothing, --json has no place there", verb);
	if (!strcmp(verb, "set"))
		return path_change(args, true);
	if (!strcmp(verb, "del"))
		return path_change(args, false);
	return misused("path: no action \"%s\"; set, del or show", verb);
}

const struct command command_path = {
	.name = "path",
	.summary = "what a byte costs on each path",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = path_run,
	.help =
	"Usage: mpdpa path set PATH cost N\n"
	"       mpdpa path del PATH\n"
	"       mpdpa path [ show [ PATH ] ]\n"
	"       PATH := { dev IFACE | endpoint ID | addr ADDRESS }\n"
	"\n"
	"Sets, removes or shows what a byte costs on a path of this network namespace.\n"
	"A path is an MPTCP endpoint (its ID as in \"ip mptcp endpoint\"), a local IP\n"
	"address or a network interface. A subflow takes the cost of its endpoint, else\n"
	"that of its address, else that of its interface, else 2 if its endpoint is\n"
	"flagged backup or the peer asked for that, else 1.\n"
	"\n"
	"  dev IFACE      the interface that carries the subflow\n"
	"  endpoint ID    1 to 255\n"
	"  addr ADDRESS   the subflow's local address, IPv4 or IPv6\n"
	"  cost N         1 to 1000000; only order and ratio matter\n"
	"\n"
	"\"show\" lists the costs that were set. Options: -j, -n NAME.\n"
	"\n"
	"  mpdpa path set dev wwan0 cost 10\n"
	"  mpdpa -n client path show\n",
};
