// SPDX-License-Identifier: GPL-2.0
/* mpdpa stat: counters of a network namespace. */
#include <inttypes.h>
#include <stddef.h>

#include "cmd.h"
#include "json.h"
#include "module.h"

#define FIELD(name)	{ #name, offsetof(struct mpdpa_stats, name) }

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	FIELD(connections), FIELD(decisions), FIELD(chunk_decisions), FIELD(guard_drops),
	FIELD(chunks_set), FIELD(chunks_met), FIELD(chunks_missed), FIELD(activations),
	FIELD(prio_sent), FIELD(ticks), FIELD(turns),
};

#define FIELDS	(sizeof(fields) / sizeof(fields[0]))

static uint64_t value(const struct mpdpa_stats *stats, size_t i)
{
	return *(const uint64_t *)((const char *)stats + fields[i].offset);
}

static void show_text(const struct mpdpa_stats *stats)
{
	size_t i;

	for (i = 0; i < FIELDS; i++)
		printf("%-16s %" PRIu64 "\n", fields[i].name, value(stats, i));
}

static void show_json(const struct mpdpa_stats *stats)
{
	struct json json;
	size_t i;

	json_begin(&json, stdout);
	json_object(&json, NULL);
	for (i = 0; i < FIELDS; i++)
		json_number(&json, fields[i].name, value(stats, i));
	json_object_end(&json);
	json_end(&json);
}

static int stat_run(const struct options *options, struct args *args)
{
	struct mpdpa_stats stats;
	struct mpdpa_ctl *ctl;
	int err;

	if (!args_end(args))
		return misused("stat: %s", args->error);
	err = module_connect("stat", &ctl);
	if (err)
		return err;
	err = mpdpa_stats_get(ctl, &stats, sizeof(stats));
	if (err)
		err = module_refused(ctl, "stat", err);
	mpdpa_ctl_close(ctl);
	if (err)
		return err;
	if (options->json)
		show_json(&stats);
	else
		show_text(&stats);
	return MPDPA_EXIT_OK;
}

const struct command command_stat = {
	.name = "stat",
	.summary = "counters of the network namespace",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = stat_run,
	.help =
	"Usage: mpdpa stat [ -j ] [ -n NAME ]\n"
	"\n"
	"Shows the counters of this network namespace since the module was loaded:\n"
	"\n"
	"  connections      that have state now (this one is no counter)\n"
	"  decisions        that a scheduler of the module was asked for\n"
	"  chunk_decisions  of them, with a chunk in force, or overflow\n"
	"  guard_drops      picks of a scheduler that could not be used\n"
	"  chunks_set       chunks that were queued, intervals not counted\n"
	"  chunks_met, chunks_missed\n"
	"                   chunks that were judged\n"
	"  activations      times a held subflow was put in use\n"
	"  prio_sent        MP_PRIO options asked for\n"
	"  ticks            looks at a connection that no acknowledgement caused\n"
	"  turns            chunks that waited for their turn on a path that many had\n"
	"                   filled\n",
};
