// SPDX-License-Identifier: GPL-2.0
/* mpdpa monitor: events of a network namespace, a line each. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cmd.h"
#include "connshow.h"
#include "json.h"
#include "module.h"
#include "system.h"

#define STAMP_SIZE	48

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/* As in RFC 3339, in local time, to the microsecond. */
static const char *stamp(char text[STAMP_SIZE])
{
	struct timespec now;
	struct tm local;
	char zone[8];

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &local);
	strftime(text, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &local);
	strftime(zone, sizeof(zone), "%z", &local);
	snprintf(text + strlen(text), STAMP_SIZE - strlen(text), ".%06ld%.3s:%s",
		 now.tv_nsec / 1000, zone, zone + 3);
	return text;
}

static bool has_chunk(const struct mpdpa_event *event)
{
	return event->type == MPDPA_EVENT_CHUNK_MET || event->type == MPDPA_EVENT_CHUNK_MISSED ||
	       event->type == MPDPA_EVENT_CHUNK_AT_RISK;
}

static void show_text(const struct mpdpa_event *event, bool stamped)
{
	int64_t left = event->chunk_deadline_ns - monotonic_ns();
	char text[STAMP_SIZE];

	if (stamped)
		printf("%s ", stamp(text));
	printf("%s conn %" PRIu64 " token %08x", mpdpa_event_name(event->type), event->id,
	       event->token);
	if (has_chunk(event))
		printf(" length %" PRIu64 " cookie %" PRIu64 " left %s", event->chunk_length,
		       event->chunk_cookie, time_text(left, text));
	else
		printf(" subflow %u", event->subflow);
	putchar('\n');
}

static void show_json(const struct mpdpa_event *event, bool stamped)
{
	char text[STAMP_SIZE];
	struct json json;

	json_begin(&json, stdout);
	json_object(&json, NULL);
	json_string(&json, "event", mpdpa_event_name(event->type));
	if (stamped)
		json_string(&json, "time", stamp(text));
	json_number(&json, "id", event->id);
	snprintf(text, sizeof(text), "%08x", event->token);
	json_string(&json, "token", text);
	json_number(&json, "cookie", event->cookie);
	if (has_chunk(event)) {
		json_object(&json, "chunk");
		json_number(&json, "length", event->chunk_length);
		json_number(&json, "deadline_ns", event->chunk_deadline_ns);
		json_signed(&json, "left_ns", event->chunk_deadline_ns - monotonic_ns());
		json_number(&json, "cookie", event->chunk_cookie);
		json_object_end(&json);
	} else {
		json_number(&json, "subflow", event->subflow);
	}
	json_object_end(&json);
	json_end(&json);
}

/* Shows what is there; false when there is an error, which has been told. */
static bool show_all(struct mpdpa_monitor *monitor, const struct options *options)
{
	struct mpdpa_event event;
	int err;

	do {
		err = mpdpa_monitor_read(monitor, &event, sizeof(event));
		if (err == -ENOBUFS)
			refused("monitor: events were lost, they came too fast");
		else if (!err && options->json)
			show_json(&event, options->timestamps);
		else if (!err)
			show_text(&event, options->timestamps);
	} while (!err || err == -ENOBUFS);
	if (err == -EAGAIN || err == -EINTR)
		return true;
	if (err == -ENODEV)
		refused("monitor: kernel module " MODULE_NAME " was unloaded, no more events will come");
	else
		refused("monitor: %s", strerror(-err));
	return false;
}

/* They come only while it waits, so none is missed. */
static void catch_signals(sigset_t *unblocked)
{
	const struct sigaction action = { .sa_handler = stop };
	sigset_t blocked;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
}

static int follow(struct mpdpa_monitor *monitor, const struct options *options)
{
	struct pollfd poll_fd = { .fd = mpdpa_monitor_fd(monitor), .events = POLLIN };
	sigset_t unblocked;

	catch_signals(&unblocked);
	while (!stopped && !ferror(stdout)) {
		if (ppoll(&poll_fd, 1, NULL, &unblocked) < 0) {
			if (errno != EINTR)
				return refused("monitor: %s", strerror(errno));
			continue;
		}
		if (!show_all(monitor, options))
			return MPDPA_EXIT_REFUSED;
		fflush(stdout);
	}
	return MPDPA_EXIT_OK;
}

static int monitor_run(const struct options *options, struct args *args)
{
	struct mpdpa_monitor *monitor;
	int err;

	if (!args_end(args))
		return misused("monitor: %s", args->error);
	err = mpdpa_monitor_open(&monitor);
	if (err)
		return module_failed("monitor", err);
	err = follow(monitor, options);
	mpdpa_monitor_close(monitor);
	return err;
}

const struct command command_monitor = {
	.name = "monitor",
	.summary = "events as they happen",
	.takes = TAKES_NETNS | TAKES_JSON | TAKES_STAMPS,
	.run = monitor_run,
	.help =
	"Usage: mpdpa monitor [ -j ] [ -t ] [ -n NAME ]\n"
	"\n"
	"Prints a line for each event of this network namespace until it is stopped:\n"
	"\n"
	"  chunk-met, chunk-missed   the verdict on a chunk\n"
	"  chunk-at-risk             even all paths together seem too slow for it\n"
	"  path-activated            a subflow that was held back is put in use\n"
	"  path-released             a subflow is held back from now on\n"
	"  quota-reached             the quota of this subflow's path is spent\n"
	"\n"
	"\"left\" is the time to the deadline when the line is printed; with a minus it\n"
	"has passed.\n"
	"\n"
	"  -j, --json         a line of JSON for each\n"
	"  -t, --timestamps   when it was printed, before it\n"
	"\n"
	"Needs CAP_NET_ADMIN in the namespace.\n",
};
