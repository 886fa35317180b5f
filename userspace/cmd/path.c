// SPDX-License-Identifier: GPL-2.0
/* mpdpa path: what a byte costs on each path of a network namespace. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "json.h"
#include "mpdpa.h"
#include "system.h"

#define LIST_TRIES	5
#define LIST_MAX	1024

/* All costs that were set, or those of one path. */
struct listing {
	unsigned int count;
	struct mpdpa_path paths[LIST_MAX];
};

static int refuse(struct mpdpa_ctl *ctl, const char *what, int err)
{
	const char *message = mpdpa_ctl_message(ctl);

	if (message[0])
		return refused("path %s: %s", what, message);
	if (err == -EPERM)
		return refused("path %s: not allowed, needs CAP_NET_ADMIN in this namespace", what);
	return refused("path %s: %s", what, strerror(-err));
}

static int connect_module(struct mpdpa_ctl **ctl)
{
	int err = mpdpa_ctl_open(ctl);

	if (err == -ENOENT)
		return refused("path: kernel module " MODULE_NAME
			       " is not loaded: modprobe " MODULE_NAME);
	if (err)
		return refused("path: cannot reach the module: %s", strerror(-err));
	return MPDPA_EXIT_OK;
}

/* Turns the words into the kernel's numbers. */
static int resolve(const struct path_words *words, struct mpdpa_path *path)
{
	char more;

	*path = (struct mpdpa_path){ .endpoint_id = words->endpoint, .cost = words->cost };
	if (!words->dev)
		return MPDPA_EXIT_OK;
	path->ifindex = if_nametoindex(words->dev);
	/* An interface that is gone is shown by its number and can still be named so. */
	if (!path->ifindex && sscanf(words->dev, "if%u%c", &path->ifindex, &more) != 1)
		return refused("path: no interface \"%s\"", words->dev);
	return MPDPA_EXIT_OK;
}

static int path_change(struct args *args, bool set)
{
	const char *what = set ? "set" : "del";
	struct path_words words;
	struct mpdpa_path path;
	struct mpdpa_ctl *ctl;
	int err;

	if (!path_words_parse(args, set ? PATH_NAME | PATH_COST : PATH_NAME, &words))
		return misused("path %s: %s", what, args->error);
	err = connect_module(&ctl);
	if (err)
		return err;
	err = resolve(&words, &path);
	if (!err) {
		err = set ? mpdpa_path_set(ctl, &path) : mpdpa_path_del(ctl, &path);
		if (err == -ENOENT && !set && !mpdpa_ctl_message(ctl)[0])
			err = refused("path del: this path has no cost of its own");
		else if (err)
			err = refuse(ctl, what, err);
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

static const char *interface_name(const struct mpdpa_path *path, char name[IF_NAMESIZE])
{
	if (!if_indextoname(path->ifindex, name))
		snprintf(name, IF_NAMESIZE, "if%u", path->ifindex);
	return name;
}

static void show_text(const struct listing *listing)
{
	char name[IF_NAMESIZE];
	unsigned int i;

	for (i = 0; i < listing->count; i++) {
		const struct mpdpa_path *path = &listing->paths[i];

		if (path->endpoint_id)
			printf("endpoint %u cost %u\n", path->endpoint_id, path->cost);
		else
			printf("dev %s cost %u\n", interface_name(path, name), path->cost);
	}
}

static void show_json(const struct listing *listing)
{
	char name[IF_NAMESIZE];
	struct json json;
	unsigned int i;

	json_begin(&json, stdout);
	json_array(&json, NULL);
	for (i = 0; i < listing->count; i++) {
		const struct mpdpa_path *path = &listing->paths[i];

		json_object(&json, NULL);
		if (path->endpoint_id) {
			json_number(&json, "endpoint", path->endpoint_id);
		} else {
			json_string(&json, "dev", interface_name(path, name));
			json_number(&json, "ifindex", path->ifindex);
		}
		json_number(&json, "cost", path->cost);
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
		return refuse(ctl, "show", err);
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
	err = connect_module(&ctl);
	if (err)
		return err;
	if (words.dev || words.endpoint) {
		err = read_one(ctl, &words, &listing);
	} else {
		err = read_all(ctl, &listing);
		if (err)
			err = refuse(ctl, "show", err);
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
	"Usage: mpdpa path set { dev IFACE | endpoint ID } cost N\n"
	"       mpdpa path del { dev IFACE | endpoint ID }\n"
	"       mpdpa path [ show [ dev IFACE | endpoint ID ] ]\n"
	"\n"
	"Sets, removes or shows what a byte costs on a path of this network namespace.\n"
	"A path is an MPTCP endpoint (its ID as in \"ip mptcp endpoint\") or a network\n"
	"interface. A subflow takes the cost of its endpoint, else that of its\n"
	"interface, else 2 if its endpoint is flagged backup, else 1.\n"
	"\n"
	"  dev IFACE      the interface that carries the subflow\n"
	"  endpoint ID    1 to 255\n"
	"  cost N         1 to 1000000; only order and ratio matter\n"
	"\n"
	"\"show\" lists the costs that were set. Options: -j, -n NAME.\n"
	"\n"
	"  mpdpa path set dev wwan0 cost 10\n"
	"  mpdpa -n client path show\n",
};
