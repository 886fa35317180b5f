// SPDX-License-Identifier: GPL-2.0
/* mpdpa status: what is loaded, attached and selected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "json.h"
#include "mpdpa.h"
#include "pins.h"
#include "system.h"

struct status {
	bool module;
	char version[64];
	char users[16];
	char available[1024];
	char current[64];
	char alpha[16];
	char policy[16];
	int pins_error;
	struct pins pins;
	int state;		/* of mpdpa_probe() */
	char cgroup[PATH_MAX];	/* the root of cgroup v2 */
	uint64_t cgroup_id;
};

/* An empty text stands for what cannot be read. */
static void read_text(int (*read)(const char *, char *, size_t), const char *name, char *text,
		      size_t size)
{
	if (read(name, text, size))
		text[0] = '\0';
}

static void gather(struct status *status)
{
	struct stat root;

	status->module = system_module_loaded();
	read_text(system_read, "/sys/module/" MODULE_NAME "/version", status->version,
		  sizeof(status->version));
	read_text(system_read, "/sys/module/" MODULE_NAME "/refcnt", status->users,
		  sizeof(status->users));
	read_text(system_sysctl, SYSCTL_AVAILABLE, status->available, sizeof(status->available));
	read_text(system_sysctl, SYSCTL_SCHEDULER, status->current, sizeof(status->current));
	read_text(system_sysctl, SYSCTL_ALPHA, status->alpha, sizeof(status->alpha));
	read_text(system_sysctl, SYSCTL_POLICY, status->policy, sizeof(status->policy));
	status->pins_error = pins_read(&status->pins);
	status->state = mpdpa_probe(-1);
	if (system_cgroup2(status->cgroup, sizeof(status->cgroup)) &&
	    !stat(status->cgroup, &root))
		status->cgroup_id = root.st_ino;
}

static void show_alpha(const struct status *status)
{
	unsigned long milli = strtoul(status->alpha, NULL, 10);

	if (!status->alpha[0])
		return;
	if (!milli)
		printf("alpha       %s\n", strcmp(status->policy, "1") ? "adaptive" :
		       "1, that of the threshold rule");
	else
		printf("alpha       %lu.%03lu\n", milli / 1000, milli % 1000);
}

static void show_pin(const struct status *status, const struct pin *pin)
{
	switch (pin->kind) {
	case PIN_KIND_SCHED:
		printf("attached    %s: link %u, map %u, %s\n", pin_name(pin), pin->link_id,
		       pin->map_id, pin->path);
		break;
	case PIN_KIND_SOCKOPT:
		printf("attached    %s: link %u, program %u, ", pin_name(pin), pin->link_id,
		       pin->prog_id);
		if (pin->cgroup_id == status->cgroup_id)
			printf("cgroup %s, %s\n", status->cgroup, pin->path);
		else
			printf("cgroup id %llu, %s\n", (unsigned long long)pin->cgroup_id,
			       pin->path);
		break;
	case PIN_KIND_UNKNOWN:
		printf("foreign     %s\n", pin->path);
		break;
	}
}

static void show_text(const struct status *status)
{
	int i;

	if (status->module)
		printf("module      " MODULE_NAME " %s, used %s times\n", status->version,
		       status->users);
	else
		printf("module      " MODULE_NAME " is not loaded\n");
	if (status->pins_error)
		printf("attached    unknown: " PINS_DIR ": %s\n",
		       pins_error_text(status->pins_error));
	else if (!status->pins.count)
		printf("attached    nothing\n");
	for (i = 0; i < status->pins.count; i++)
		show_pin(status, &status->pins.pin[i]);
	if (status->current[0])
		printf("scheduler   %s (available: %s)\n", status->current, status->available);
	show_alpha(status);
	printf("deadlines   %s\n", status->state < 0 ? strerror(-status->state) :
	       mpdpa_state_text(status->state));
}

static void put_words(struct json *json, const char *key, const char *text)
{
	char word[64];

	json_array(json, key);
	while (*text) {
		size_t length = strcspn(text, " \t\n");

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		json_string(json, NULL, word);
		text += length;
		text += strspn(text, " \t\n");
	}
	json_array_end(json);
}

static void put_number(struct json *json, const char *key, const char *text)
{
	if (text[0])
		json_number(json, key, strtoull(text, NULL, 10));
	else
		json_null(json, key);
}

static void put_module(struct json *json, const struct status *status)
{
	json_object(json, "module");
	json_string(json, "name", MODULE_NAME);
	json_bool(json, "loaded", status->module);
	json_string(json, "version", status->version[0] ? status->version : NULL);
	put_number(json, "users", status->users);
	json_object_end(json);
}

static void put_pin(struct json *json, const struct status *status, const struct pin *pin)
{
	json_object(json, NULL);
	json_string(json, "name", pin_name(pin));
	json_string(json, "pin", pin->path);
	json_number(json, "link_id", pin->link_id);
	if (pin->kind == PIN_KIND_SCHED) {
		json_number(json, "map_id", pin->map_id);
	} else {
		json_number(json, "prog_id", pin->prog_id);
		json_number(json, "cgroup_id", pin->cgroup_id);
		json_string(json, "cgroup",
			    pin->cgroup_id == status->cgroup_id ? status->cgroup : NULL);
	}
	json_object_end(json);
}

static void put_pins(struct json *json, const struct status *status, enum pin_kind kind,
		     const char *key)
{
	int i;

	if (status->pins_error) {
		json_null(json, key);
		return;
	}
	json_array(json, key);
	for (i = 0; i < status->pins.count; i++) {
		if (status->pins.pin[i].kind == kind)
			put_pin(json, status, &status->pins.pin[i]);
	}
	json_array_end(json);
}

static void show_json(const struct status *status)
{
	struct json json;

	json_begin(&json, stdout);
	json_object(&json, NULL);
	put_module(&json, status);
	put_pins(&json, status, PIN_KIND_SCHED, "attached");
	put_pins(&json, status, PIN_KIND_SOCKOPT, "sockopt");
	json_string(&json, "scheduler", status->current[0] ? status->current : NULL);
	put_words(&json, "available", status->available);
	put_number(&json, "alpha_milli", status->alpha);
	json_bool(&json, "ready", status->state == MPDPA_READY);
	json_string(&json, "state", status->state < 0 ? strerror(-status->state) :
		    mpdpa_state_text(status->state));
	json_object_end(&json);
	json_end(&json);
}

static int status_run(const struct options *options, struct args *args)
{
	static struct status status;

	if (!args_end(args))
		return misused("status: %s", args->error);
	gather(&status);
	if (options->json)
		show_json(&status);
	else
		show_text(&status);
	return MPDPA_EXIT_OK;
}

const struct command command_status = {
	.name = "status",
	.summary = "what is loaded, attached and selected",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = status_run,
	.help =
	"Usage: mpdpa status [ -j ] [ -n NAME ]\n"
	"\n"
	"Shows the module, what \"mpdpa load\" attached, the scheduler selected in this\n"
	"network namespace and those available, alpha, and whether a socket made here\n"
	"and now can have deadlines. What is attached only root can see.\n",
};
