// SPDX-License-Identifier: GPL-2.0
/*
 * mpdpa load: attaches the schedulers of an object and the socket-option
 * programs, and pins the links so that they stay. All or nothing; what an
 * earlier load attached is left as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpflog.h"
#include "cmd.h"
#include "object.h"
#include "pins.h"
#include "sockopts.h"
#include "system.h"

#define SOCKOPTS		2
#define ATTACHED_MAX	(OBJECT_SCHEDS_MAX + SOCKOPTS)
#define CGROUP_DEFAULT	"/sys/fs/cgroup"

static const struct {
	const char *program;
	const char *pin;
} sockopts[SOCKOPTS] = {
	{ SETSOCKOPT_PROGRAM, PIN_SETSOCKOPT },
	{ GETSOCKOPT_PROGRAM, PIN_GETSOCKOPT },
};

struct load {
	const struct options *options;
	struct pins before;		/* what was there already */
	struct bpf_object *object;
	struct bpf_object *sockopt;
	struct object_sched scheds[OBJECT_SCHEDS_MAX];
	int sched_count;
	bool has_scheds;		/* they are there already */
	struct bpf_link *attached[ATTACHED_MAX];	/* in that order */
	int attached_count;
};

static const char *object_name(const struct load *load)
{
	return load->options->object ?: "the built-in scheduler";
}

static int check_system(const struct load *load)
{
	const struct options *options = load->options;

	/* A kernel with schedulers of its own needs the module for ours only. */
	if (!system_module_loaded() && !(options->object && options->no_sockopt))
		return refused("load: kernel module " MODULE_NAME
			       " is not loaded: modprobe " MODULE_NAME);
	if (!system_is_bpffs(BPFFS_DIR))
		return refused("load: no BPF file system: mount -t bpf bpf " BPFFS_DIR);
	return MPDPA_EXIT_OK;
}

static int read_pins(struct load *load)
{
	int err = pins_read(&load->before);

	if (err == -EACCES)
		return refused("load: not allowed, needs root");
	if (err)
		return refused("load: cannot read " PINS_DIR ": %s", pins_error_text(err));
	return MPDPA_EXIT_OK;
}

static int open_object(struct load *load)
{
	const char *file = load->options->object;

	load->object = file ? object_open_file(file) : object_open_scheduler();
	if (!load->object) {
		char text[128];
		int err = errno;

		libbpf_strerror(err, text, sizeof(text));
		refused("load: cannot open %s: %s", object_name(load), text);
		/* That a file is not there needs no more words. */
		if (err != ENOENT)
			bpflog_tail();
		return MPDPA_EXIT_REFUSED;
	}
	load->sched_count = object_schedulers(load->object, load->scheds);
	if (!load->sched_count)
		return refused("load: %s holds no scheduler (a struct_ops of type mptcp_sched_ops)",
			       object_name(load));
	if (load->sched_count == -EOPNOTSUPP)
		return refused("load: %s holds schedulers for other kernels only",
			       object_name(load));
	if (load->sched_count == -E2BIG)
		return refused("load: %s holds more than %d schedulers", object_name(load),
			       OBJECT_SCHEDS_MAX);
	if (load->sched_count < 0)
		return refused("load: a scheduler of %s has no usable name: 1 to %d letters, digits and \"_\"",
			       object_name(load), SCHED_NAME_SIZE - 1);
	return MPDPA_EXIT_OK;
}

/* The schedulers of a file may be others than those attached under their names. */
static int check_names(struct load *load)
{
	char available[1024];
	int i, there = 0;

	if (system_sysctl(SYSCTL_AVAILABLE, available, sizeof(available)))
		available[0] = '\0';
	for (i = 0; i < load->sched_count; i++) {
		const char *name = load->scheds[i].name;

		if (pins_has(&load->before, name, PIN_KIND_SCHED)) {
			if (load->options->object)
				return refused("load: scheduler %s is loaded already, unload it first",
					       name);
			there++;
		} else if (system_has_word(available, name)) {
			return refused("load: a scheduler %s is there already, but not by this command",
				       name);
		}
	}
	load->has_scheds = there == load->sched_count;
	return MPDPA_EXIT_OK;
}

static int load_object(struct bpf_object *object, const char *name)
{
	int err = bpf_object__load(object);

	if (!err)
		return MPDPA_EXIT_OK;
	if (err == -EPERM && !system_privileged())
		return refused("load: not allowed, needs root");
	if (err == -ESRCH && !system_module_loaded())
		return refused("load: kernel module " MODULE_NAME
			       " is not loaded, and this kernel has no BPF schedulers of its own: modprobe "
			       MODULE_NAME);
	refused("load: the kernel refused %s: %s", name, strerror(-err));
	bpflog_tail();
	return MPDPA_EXIT_REFUSED;
}

/* Keeps the link for the undoing, and pins it. */
static int keep(struct load *load, struct bpf_link *link, const char *name)
{
	char path[PIN_PATH_SIZE];
	int err;

	load->attached[load->attached_count++] = link;
	pins_path(path, name);
	err = bpf_link__pin(link, path);
	if (err)
		return refused("load: cannot pin %s: %s", path, strerror(-err));
	return MPDPA_EXIT_OK;
}

static int refuse_attach(const char *name, int err)
{
	if (err == EEXIST)
		return refused("load: cannot attach scheduler %s: the name is taken", name);
	if (err == ENOSPC)
		return refused("load: cannot attach scheduler %s: live sockets or others take all room",
			       name);
	refused("load: cannot attach scheduler %s: %s", name, strerror(err));
	bpflog_tail();
	return MPDPA_EXIT_REFUSED;
}

static int attach_schedulers(struct load *load)
{
	int i, err;

	for (i = 0; i < load->sched_count; i++) {
		const struct object_sched *sched = &load->scheds[i];
		struct bpf_link *link;

		if (pins_has(&load->before, sched->name, PIN_KIND_SCHED))
			continue;
		link = bpf_map__attach_struct_ops(sched->map);
		if (!link)
			return refuse_attach(sched->name, errno);
		err = keep(load, link, sched->name);
		if (err)
			return err;
	}
	return MPDPA_EXIT_OK;
}

/* The file descriptor of the cgroup, or -1 when it has been said why not. */
static int open_cgroup(const struct load *load)
{
	char path[PATH_MAX] = CGROUP_DEFAULT;
	int fd;

	if (load->options->cgroup)
		snprintf(path, sizeof(path), "%s", load->options->cgroup);
	else
		system_cgroup2(path, sizeof(path));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		refused("load: cannot open cgroup %s: %s", path, strerror(errno));
	return fd;
}

static int attach_program(struct load *load, int cgroup, const char *program, const char *pin)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(load->sockopt, program);
	struct bpf_link *link = prog ? bpf_program__attach_cgroup(prog, cgroup) : NULL;

	if (!link)
		return refused("load: cannot attach %s to the cgroup (is it of cgroup v2?): %s",
			       program, strerror(errno));
	return keep(load, link, pin);
}

static bool has_sockopt(const struct load *load, int i)
{
	return pins_has(&load->before, sockopts[i].pin, PIN_KIND_SOCKOPT);
}

/* Those of the programs that are not there. */
static int attach_sockopt(struct load *load)
{
	int cgroup, i, err;

	load->sockopt = object_open_sockopt();
	if (!load->sockopt)
		return refused("load: cannot open the socket-option programs: %s",
			       strerror(errno));
	err = load_object(load->sockopt, "the socket-option programs");
	if (err)
		return err;
	cgroup = open_cgroup(load);
	if (cgroup < 0)
		return MPDPA_EXIT_REFUSED;
	for (i = 0; !err && i < SOCKOPTS; i++) {
		if (!has_sockopt(load, i))
			err = attach_program(load, cgroup, sockopts[i].program, sockopts[i].pin);
	}
	close(cgroup);
	return err;
}

/* How many of the programs are to be attached, or -1: there are some elsewhere. */
static int missing_sockopt(const struct load *load)
{
	int i, missing = 0;

	if (load->options->no_sockopt)
		return 0;
	for (i = 0; i < SOCKOPTS; i++)
		missing += !has_sockopt(load, i);
	if (missing < SOCKOPTS && load->options->cgroup) {
		refused("load: the socket-option programs are attached already, \"--cgroup\" comes too late");
		return -1;
	}
	return missing;
}

static int attach_all(struct load *load, bool sockopt)
{
	int err = load->has_scheds ? MPDPA_EXIT_OK : load_object(load->object, object_name(load));

	if (err)
		return err;
	err = pins_make_dir();
	if (err)
		return refused("load: cannot make " PINS_DIR ": %s", strerror(-err));
	if (!load->has_scheds)
		err = attach_schedulers(load);
	if (!err && sockopt)
		err = attach_sockopt(load);
	return err;
}

static int load_all(struct load *load)
{
	int err, sockopt;

	err = check_system(load);
	if (!err)
		err = read_pins(load);
	if (!err)
		err = open_object(load);
	if (!err)
		err = check_names(load);
	if (err)
		return err;
	sockopt = missing_sockopt(load);
	if (sockopt < 0)
		return MPDPA_EXIT_REFUSED;
	if (load->has_scheds && !sockopt) {
		printf("nothing to do, all is loaded already\n");
		return MPDPA_EXIT_OK;
	}
	return attach_all(load, sockopt);
}

/* Frees everything; what is to stay attached is held by its pin. */
static void finish(struct load *load, bool undo)
{
	while (load->attached_count) {
		struct bpf_link *link = load->attached[--load->attached_count];

		if (undo && bpf_link__pin_path(link))
			bpf_link__unpin(link);
		bpf_link__destroy(link);
	}
	bpf_object__close(load->sockopt);
	bpf_object__close(load->object);
	if (undo)
		pins_remove_dir();
}

static int load_run(const struct options *options, struct args *args)
{
	static struct load load;
	int err;

	if (!args_end(args))
		return misused("load: %s", args->error);
	if (options->cgroup && options->no_sockopt)
		return misused("load: \"--cgroup\" and \"--no-sockopt\" exclude each other");
	bpflog_start(options->verbose);
	load.options = options;
	err = load_all(&load);
	finish(&load, err);
	return err;
}

const struct command command_load = {
	.name = "load",
	.summary = "attach the scheduler and the socket options",
	.takes = TAKES_LOAD,
	.run = load_run,
	.help =
	"Usage: mpdpa load [ --object FILE ] [ --cgroup PATH | --no-sockopt ]\n"
	"\n"
	"Attaches the scheduler \"mpdpa\" and the programs that serve its socket options,\n"
	"and pins them below " PINS_DIR " so that they stay. If anything fails,\n"
	"nothing new stays. The module must be there: modprobe " MODULE_NAME ".\n"
	"\n"
	"  --object FILE   attach all MPTCP schedulers of this BPF object instead\n"
	"  --cgroup PATH   serve the socket options in this cgroup only\n"
	"                  (default: the root of the cgroup v2 tree)\n"
	"  --no-sockopt    leave the socket options alone\n"
	"  -v, --verbose   say what libbpf says; twice for more\n"
	"\n"
	"What an earlier load attached is left as it is, and what is missing attached;\n"
	"but with --object no scheduler of that name may be there.\n"
	"A namespace uses a scheduler for new sockets once it is selected:\n"
	"\n"
	"  sysctl -w net.mptcp.scheduler=mpdpa\n",
};
