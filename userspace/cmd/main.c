// SPDX-License-Identifier: GPL-2.0
/* mpdpa: the operator's command. Finds the command and hands over to it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "cmd.h"
#include "system.h"

static const struct command *const commands[] = {
	&command_load, &command_unload, &command_status, &command_path, &command_conn,
	&command_show, &command_stat, &command_monitor, &command_top, &command_doctor, NULL,
};

static const char general_help[] =
	"Usage: mpdpa [OPTIONS] COMMAND ...\n"
	"\n"
	"Deadline- and price-aware scheduling for Multipath TCP.\n"
	"\n"
	"Commands:\n";

static const char options_help[] =
	"\n"
	"Options:\n"
	"  -j, --json         what is shown, as JSON\n"
	"  -n, --netns NAME   in the network namespace /run/netns/NAME\n"
	"  -v, --verbose      say what libbpf says; twice for more\n"
	"  -V, --version      print the version and leave\n"
	"  -h, --help         this text, or that of the command given\n"
	"\n"
	"Exit status: 0 done, 1 the kernel or the system refused, 2 wrong usage.\n";

static void say(const char *format, va_list list)
{
	fflush(stdout);
	fputs("mpdpa: ", stderr);
	vfprintf(stderr, format, list);
	putc('\n', stderr);
}

int refused(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
	return MPDPA_EXIT_REFUSED;
}

int misused(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	say(format, list);
	va_end(list);
	fputs("Try \"mpdpa --help\".\n", stderr);
	return MPDPA_EXIT_USAGE;
}

static const struct command *find_command(const char *name)
{
	const struct command *const *command;

	for (command = commands; *command; command++) {
		if (!strcmp((*command)->name, name))
			return *command;
	}
	return NULL;
}

static void show_help(const struct command *command)
{
	const struct command *const *each;

	if (command) {
		fputs(command->help, stdout);
		return;
	}
	fputs(general_help, stdout);
	for (each = commands; *each; each++)
		printf("  %-8s %s\n", (*each)->name, (*each)->summary);
	fputs(options_help, stdout);
}

static int check_options(const struct command *command, const struct options *options)
{
	if (options->netns && !(command->takes & TAKES_NETNS))
		return misused("%s is not per network namespace, --netns has no place there",
			       command->name);
	if (options->json && (command->takes & TAKES_SCREEN))
		return misused("%s has no JSON", command->name);
	if (options->json && !(command->takes & TAKES_JSON))
		return misused("%s shows nothing, --json has no place there", command->name);
	if ((options->object || options->cgroup || options->no_sockopt) &&
	    !(command->takes & TAKES_LOAD))
		return misused("%s does not take options of \"load\"", command->name);
	if (options->timestamps && !(command->takes & TAKES_STAMPS))
		return misused("%s does not take --timestamps", command->name);
	if (command->takes & TAKES_SCREEN)
		return MPDPA_EXIT_OK;
	if (options->delay)
		return misused("%s does not take --delay, one of the options of \"top\"", command->name);
	/* it may have been meant as a number */
	if (options->once)
		return misused("%s does not take \"-1\", one of the options of \"top\"; no number is negative",
			       command->name);
	return MPDPA_EXIT_OK;
}

/* The exit status, if all that was printed could be written. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return refused("cannot write: %s", strerror(errno));
	return status;
}

static int run(const struct command *command, const struct options *options, struct args *args)
{
	int err = check_options(command, options);

	if (err)
		return err;
	if (options->netns && system_enter_netns(options->netns))
		return refused("cannot enter network namespace \"%s\": %s", options->netns,
			       strerror(errno));
	return finish(command->run(options, args));
}

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	struct options options;
	struct args args;
	const char *name;

	if (!options_parse(argc, argv, &options, &args))
		return misused("%s", args.error);
	if (options.version) {
		printf("mpdpa %s (libbpf %s)\n", MPDPA_VERSION, libbpf_version_string());
		return finish(MPDPA_EXIT_OK);
	}
	if (args_accept(&args, "help"))
		options.help = true;
	name = args_take(&args);
	if (name) {
		command = find_command(name);
		if (!command)
			return misused("no command \"%s\"", name);
	}
	if (options.help) {
		show_help(command);
		return finish(MPDPA_EXIT_OK);
	}
	if (!command)
		return misused("which command? load, status, path, conn, stat, monitor, top, doctor, ...");
	return run(command, &options, &args);
}
