// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>

#include "bpflog.h"

#define TAIL_LINES	15
#define TAIL_WARNINGS	5
#define VERIFIER_BEGIN	"-- BEGIN PROG LOAD LOG --\n"
#define VERIFIER_END	"-- END PROG LOAD LOG --"

/* libbpf's print function gets no argument of ours, hence these. */
static int verbosity;
static char *verifier_log;	/* the last one */
static char warnings[4096];	/* the last ones that are none */

static void keep_verifier_log(const char *begin)
{
	const char *end = strstr(begin, VERIFIER_END);

	free(verifier_log);
	verifier_log = strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static void keep_warning(const char *text)
{
	size_t length = strlen(text), room = sizeof(warnings) - 1 - strlen(warnings);

	if (length >= sizeof(warnings))
		return;
	/* Older ones make room. */
	if (length > room)
		memmove(warnings, warnings + length - room,
			strlen(warnings) - (length - room) + 1);
	strcat(warnings, text);
}

static int keep(enum libbpf_print_level level, const char *format, va_list list)
{
	char *text, *begin;

	if (vasprintf(&text, format, list) < 0)
		return 0;
	if ((verbosity && level != LIBBPF_DEBUG) || verbosity > 1)
		fputs(text, stderr);
	if (level == LIBBPF_WARN) {
		begin = strstr(text, VERIFIER_BEGIN);
		if (begin)
			keep_verifier_log(begin + strlen(VERIFIER_BEGIN));
		else
			keep_warning(text);
	}
	free(text);
	return 0;
}

void bpflog_start(int verbose)
{
	verbosity = verbose;
	libbpf_set_print(keep);
}

/* Where the last lines of a text begin; a newline at its end counts for nothing. */
static const char *last_lines(const char *text, unsigned int lines)
{
	const char *at = text + strlen(text);

	if (at > text && at[-1] == '\n')
		at--;
	while (at > text) {
		if (at[-1] == '\n' && !--lines)
			break;
		at--;
	}
	return at;
}

static void print_indented(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		fprintf(stderr, "  | %.*s\n", (int)length, text);
		text += length;
		text += *text == '\n';
	}
}

void bpflog_tail(void)
{
	/* All of it was printed already. */
	if (verbosity)
		return;
	if (verifier_log) {
		fputs("The verifier's last lines (all of them with -v):\n", stderr);
		print_indented(last_lines(verifier_log, TAIL_LINES));
	} else {
		print_indented(last_lines(warnings, TAIL_WARNINGS));
	}
}
