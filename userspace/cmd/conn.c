// SPDX-License-Identifier: GPL-2.0
/* mpdpa conn: the connections of a network namespace that have deadlines. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "connshow.h"
#include "connwords.h"
#include "module.h"
#include "pathname.h"

struct output {
	struct json json;
	bool as_json;
};

static int show_one(const struct mpdpa_conn *conn, void *data)
{
	struct output *output = data;

	if (output->as_json)
		conn_show_json(&output->json, conn, monotonic_ns());
	else
		conn_show_text(stdout, conn, monotonic_ns());
	return 0;
}

static int read_one(struct mpdpa_ctl *ctl, const struct conn_name *name, struct output *output)
{
	struct mpdpa_conn conn = { .id = name->id, .token = name->token };
	int err = mpdpa_conn_get(ctl, &conn, sizeof(conn));

	if (err == -EPERM && !mpdpa_ctl_message(ctl)[0])
		return refused("conn show: not yours, needs CAP_NET_ADMIN in this namespace");
	if (err)
		return module_refused(ctl, "conn show", err);
	if (output->as_json)
		json_array(&output->json, NULL);
	show_one(&conn, output);
	if (output->as_json)
		json_array_end(&output->json);
	return MPDPA_EXIT_OK;
}

static int read_all(struct mpdpa_ctl *ctl, struct output *output)
{
	int err;

	if (output->as_json)
		json_array(&output->json, NULL);
	err = mpdpa_conn_list(ctl, show_one, output);
	if (output->as_json)
		json_array_end(&output->json);
	return err ? module_refused(ctl, "conn show", err) : MPDPA_EXIT_OK;
}

static int conn_show(const struct options *options, struct args *args)
{
	struct output output = { .as_json = options->json };
	struct conn_name name;
	struct mpdpa_ctl *ctl;
	int err;

	if (!conn_name_parse(args, &name) || !args_end(args))
		return misused("conn show: %s", args->error);
	err = module_connect("conn show", &ctl);
	if (err)
		return err;
	json_begin(&output.json, stdout);
	err = name.id || name.token ? read_one(ctl, &name, &output) : read_all(ctl, &output);
	if (!err && options->json)
		json_end(&output.json);
	mpdpa_ctl_close(ctl);
	return err;
}

/* What an error means to who asked for a change; the kernel says words with some. */
static const struct {
	int err;
	const char *why;
} set_refusals[] = {
	{ -EOPNOTSUPP, "its scheduler takes no deadlines" },
	{ -EBUSY, "intervals make its chunks" },
	{ -ENOBUFS, "too many chunks wait on it" },
	{ -ENOTCONN, "it has ended, or it listens" },
	{ -EPIPE, "it was shut down for writing" },
	{ -EPROTONOSUPPORT, "it fell back to TCP" },
	{ -ENOENT, "there is no such preference to take away" },
	{ -ENOSPC, "it has as many preferences as it can have" },
	{ -EOVERFLOW, "the chunk is due too late" },
	{ -EFBIG, "the chunk is too long" },
};

static int refuse_set(struct mpdpa_ctl *ctl, int err)
{
	size_t i;

	if (mpdpa_ctl_message(ctl)[0])
		return module_refused(ctl, "conn set", err);
	for (i = 0; i < sizeof(set_refusals) / sizeof(set_refusals[0]); i++) {
		if (set_refusals[i].err == err)
			return refused("conn set: %s", set_refusals[i].why);
	}
	return module_refused(ctl, "conn set", err);
}

static int conn_set(struct args *args)
{
	struct mpdpa_path prefs[MPTCP_DPA_PREFS_MAX];
	struct mpdpa_conn_change change = { .prefs = prefs };
	struct conn_words words;
	struct mpdpa_ctl *ctl;
	unsigned int i;
	int err;

	if (!conn_words_parse(args, &words))
		return misused("conn set: %s", args->error);
	change.id = words.name.id;
	change.token = words.name.token;
	change.what = (words.has_alpha ? MPDPA_CHANGE_ALPHA : 0) |
		      (words.has_chunk ? MPDPA_CHANGE_CHUNK : 0) |
		      (words.has_overflow ? MPDPA_CHANGE_OVERFLOW : 0);
	change.alpha_milli = words.alpha_milli;
	change.overflow_ms = words.overflow_ms;
	change.chunk = (struct mptcp_dpa_chunk){
		.length = words.chunk.length,
		.deadline_ns = words.chunk.in_ns,
		.cookie = words.chunk.cookie,
		.flags = words.chunk.flags,
	};
	change.pref_count = words.pref_count;
	for (i = 0; i < words.pref_count; i++) {
		if (!pathname_resolve(&words.prefs[i], &prefs[i]))
			return refused("conn set: no interface \"%s\"", words.prefs[i].dev);
	}
	err = module_connect("conn set", &ctl);
	if (err)
		return err;
	err = mpdpa_conn_set(ctl, &change, sizeof(change));
	if (err)
		err = refuse_set(ctl, err);
	mpdpa_ctl_close(ctl);
	return err;
}

static int conn_run(const struct options *options, struct args *args)
{
	const char *verb = args_take(args);

	if (!verb || !strcmp(verb, "show"))
		return conn_show(options, args);
	if (strcmp(verb, "set"))
		return misused("conn: no action \"%s\"; set or show", verb);
	if (options->json)
		return misused("conn set: shows nothing, --json has no place there");
	return conn_set(args);
}

const struct command command_conn = {
	.name = "conn",
	.summary = "connections that have deadlines",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = conn_run,
	.help =
	"Usage: mpdpa conn [ show [ CONN ] ]\n"
	"       mpdpa conn set CONN [ alpha { A | default } ]\n"
	"                           [ overflow { TIME | off | default } ]\n"
	"                           [ pref PATH cost { N | forbidden | none } ] ...\n"
	"                           [ chunk BYTES in TIME [ cookie N ] [ late POLICY ] ]\n"
	"       CONN := { id N | token T }\n"
	"       PATH := { dev IFACE | endpoint ID | addr ADDRESS }\n"
	"       POLICY := { spend | cheap | tell }\n"
	"\n"
	"Shows the connections of this network namespace that have or had deadlines,\n"
	"preferences, an eventfd or settings of their own, or whose bytes may overflow:\n"
	"the chunk in force, the subflows with cost, estimated goodput (bytes a second)\n"
	"and state, and the connection's own costs. Without CAP_NET_ADMIN only your own.\n"
	"\n"
	"\"set\" changes a connection on its owner's behalf, all of it or nothing.\n"
	"\n"
	"  alpha A        0.1 to 4: below 1 plans ahead, above takes risks\n"
	"  overflow TIME  how long bytes without a deadline may wait for cheaper\n"
	"                 paths before costlier ones take some\n"
	"  pref PATH ...  what a path costs for this connection alone; \"forbidden\"\n"
	"                 keeps deadlines off it, \"none\" takes the preference away\n"
	"  chunk BYTES    the next BYTES (10k, 5M) are due in TIME (250ms, 1.5s)\n"
	"  late POLICY    what to do when that cannot be met: the rest over all paths\n"
	"                 (spend), over the cheapest (cheap), or that and the\n"
	"                 application drops (tell)\n"
	"\n"
	"Options: -j with show, -n NAME.\n"
	"\n"
	"  mpdpa conn set token 5f1c2a3b pref dev wwan0 cost forbidden\n"
	"  mpdpa -n client conn show id 7\n",
};

const struct command command_show = {
	.name = "show",
	.summary = "the same as \"conn show\"",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = conn_show,
	.help =
	"Usage: mpdpa show [ id N | token T ]\n"
	"\n"
	"The same as \"mpdpa conn show\". Options: -j, -n NAME.\n",
};
