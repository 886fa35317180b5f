// SPDX-License-Identifier: GPL-2.0
/* mpdpa unload: detaches what "mpdpa load" attached, in reverse order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "cmd.h"
#include "pins.h"

#define SETTLE_TRIES	100
#define SETTLE_STEP_NS	10000000L

/* Which pins go. */
struct unload {
	struct pins pins;
	bool goes[PINS_MAX];
};

static int find_pins(struct unload *unload)
{
	int err = pins_read(&unload->pins);

	if (err == -EACCES)
		return refused("unload: not allowed, needs root");
	if (err)
		return refused("unload: cannot read " PINS_DIR ": %s", pins_error_text(err));
	return MPDPA_EXIT_OK;
}

static int choose_named(struct unload *unload, struct args *args)
{
	const char *name;

	while ((name = args_take(args))) {
		const struct pin *pin = pins_find(&unload->pins, name);

		if (!pin || pin->kind != PIN_KIND_SCHED)
			return refused("unload: no scheduler \"%s\" is loaded", name);
		unload->goes[pin - unload->pins.pin] = true;
	}
	return MPDPA_EXIT_OK;
}

/* Everything; or the schedulers named, and the rest with the last of them. */
static int choose(struct unload *unload, struct args *args)
{
	bool all = !args_peek(args), schedulers_stay = false;
	int i, err = choose_named(unload, args);

	if (err)
		return err;
	for (i = 0; i < unload->pins.count; i++) {
		if (!all && unload->pins.pin[i].kind == PIN_KIND_SCHED && !unload->goes[i])
			schedulers_stay = true;
	}
	for (i = 0; i < unload->pins.count; i++) {
		if (all || (!schedulers_stay && unload->pins.pin[i].kind != PIN_KIND_SCHED))
			unload->goes[i] = true;
	}
	return MPDPA_EXIT_OK;
}

static int detach(const struct pin *pin)
{
	int fd = bpf_obj_get(pin->path);

	if (fd < 0 && errno != ENOENT)
		return refused("unload: cannot open %s: %s", pin->path, strerror(errno));
	/* At once; kernels that cannot do it do it when the pin is gone. */
	if (fd >= 0 && pin->kind != PIN_KIND_UNKNOWN)
		bpf_link_detach(fd);
	if (unlink(pin->path) && errno != ENOENT) {
		int err = errno;

		close(fd);
		return refused("unload: cannot remove %s: %s", pin->path, strerror(err));
	}
	if (fd >= 0)
		close(fd);
	return MPDPA_EXIT_OK;
}

/* Sockets that use a scheduler hold its map. */
static bool in_use(const struct pin *pin)
{
	int fd = bpf_map_get_fd_by_id(pin->map_id);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool any_in_use(const struct unload *unload)
{
	int i;

	for (i = 0; i < unload->pins.count; i++) {
		if (unload->goes[i] && unload->pins.pin[i].kind == PIN_KIND_SCHED &&
		    in_use(&unload->pins.pin[i]))
			return true;
	}
	return false;
}

static bool module_in_use(void)
{
	char users[16];

	return !system_read("/sys/module/" MODULE_NAME "/refcnt", users, sizeof(users)) &&
	       strcmp(users, "0");
}

/*
 * The kernel lets go of schedulers and programs a little after their links are
 * gone. Waits for it, so that the module can be removed right after.
 */
static void settle(const struct unload *unload)
{
	const struct timespec step = { .tv_nsec = SETTLE_STEP_NS };
	bool all = true;
	int i;

	for (i = 0; i < unload->pins.count; i++)
		all = all && unload->goes[i];
	for (i = 0; i < SETTLE_TRIES; i++) {
		if (!any_in_use(unload) && !(all && module_in_use()))
			break;
		nanosleep(&step, NULL);
	}
}

static int detach_all(const struct unload *unload)
{
	int i, err = MPDPA_EXIT_OK;

	for (i = unload->pins.count - 1; i >= 0; i--) {
		if (unload->goes[i] && detach(&unload->pins.pin[i]))
			err = MPDPA_EXIT_REFUSED;
	}
	return err;
}

static void report_users(const struct unload *unload)
{
	int i;

	for (i = 0; i < unload->pins.count; i++) {
		const struct pin *pin = &unload->pins.pin[i];

		if (unload->goes[i] && pin->kind == PIN_KIND_SCHED && in_use(pin))
			printf("%s: live sockets keep the scheduler until they close; "
			       MODULE_NAME " cannot be removed before\n", pin_name(pin));
	}
}

static int unload_run(const struct options *options, struct args *args)
{
	static struct unload unload;
	int err;

	(void)options;
	err = find_pins(&unload);
	if (!err)
		err = choose(&unload, args);
	if (err)
		return err;
	if (!unload.pins.count) {
		printf("nothing is loaded\n");
		return MPDPA_EXIT_OK;
	}
	err = detach_all(&unload);
	pins_remove_dir();
	settle(&unload);
	report_users(&unload);
	return err;
}

const struct command command_unload = {
	.name = "unload",
	.summary = "detach them",
	.run = unload_run,
	.help =
	"Usage: mpdpa unload [ SCHEDULER ... ]\n"
	"\n"
	"Detaches everything that \"mpdpa load\" attached, or only the schedulers named;\n"
	"the socket options go with the last scheduler. Sockets that use a scheduler\n"
	"go on with it until they close, which is said. The module stays:\n"
	"modprobe -r " MODULE_NAME " removes it once the last such socket is gone.\n",
};
