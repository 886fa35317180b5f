// SPDX-License-Identifier: GPL-2.0
/* mpdpa doctor: looks for what keeps deadlines from working. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "findings.h"

static const char *const verdicts[] = {
	[VERDICT_OK] = "ok",
	[VERDICT_NOTE] = "note",
	[VERDICT_FAIL] = "FAIL",
};

void findings_begin(struct findings *findings, bool as_json, const char *netns)
{
	*findings = (struct findings){ .as_json = as_json, .netns = netns };
	if (!as_json)
		return;
	json_begin(&findings->json, stdout);
	json_array(&findings->json, NULL);
}

void findings_end(struct findings *findings)
{
	if (!findings->as_json)
		return;
	json_array_end(&findings->json);
	json_end(&findings->json);
}

static const struct {
	const char *begins;
	const char *format;	/* the namespace, then the rest of the command */
} here[] = {
	{ "sysctl ", "ip netns exec %s sysctl %s" },
	{ "ip ", "ip -n %s %s" },
	{ "mpdpa path ", "mpdpa -n %s path %s" },
};

/* One command, put to the end of the text. */
static void complete_one(const struct findings *findings, const char *mend, char *text, size_t size)
{
	size_t i, used = strlen(text);

	for (i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
		size_t length = strlen(here[i].begins);

		if (findings->netns && !strncmp(mend, here[i].begins, length)) {
			snprintf(text + used, size - used, here[i].format, findings->netns,
				 mend + length);
			return;
		}
	}
	snprintf(text + used, size - used, "%s", mend);
}

/* Settings of a namespace are put right from within it: A, or A && B. */
static const char *complete(const struct findings *findings, const char *mend, char *text,
			    size_t size)
{
	static const char and[] = " && ";
	const char *next = mend ? strstr(mend, and) : NULL;
	char first[256];

	if (!mend)
		return NULL;
	text[0] = '\0';
	if (next) {
		snprintf(first, sizeof(first), "%.*s", (int)(next - mend), mend);
		complete_one(findings, first, text, size);
		strncat(text, and, size - strlen(text) - 1);
		mend = next + strlen(and);
	}
	complete_one(findings, mend, text, size);
	return text;
}

static void put(struct findings *findings, enum verdict verdict, const char *check,
		const char *text, const char *mend)
{
	json_object(&findings->json, NULL);
	json_string(&findings->json, "check", check);
	json_string(&findings->json, "result", verdict == VERDICT_FAIL ? "fail" :
		    verdicts[verdict]);
	json_string(&findings->json, "text", text);
	json_string(&findings->json, "mend", mend);
	json_object_end(&findings->json);
}

void finding(struct findings *findings, enum verdict verdict, const char *check,
	     const char *mend, const char *format, ...)
{
	char text[512], command[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	mend = complete(findings, mend, command, sizeof(command));
	if (verdict == VERDICT_FAIL)
		findings->failures++;
	if (findings->as_json) {
		put(findings, verdict, check, text, mend);
		return;
	}
	printf("%-4s  %s\n", verdicts[verdict], text);
	if (mend)
		printf("      # %s\n", mend);
}

static int doctor_run(const struct options *options, struct args *args)
{
	struct findings findings;

	if (!args_end(args))
		return misused("doctor: %s", args->error);
	findings_begin(&findings, options->json, options->netns);
	check_kernel(&findings);
	check_bpf(&findings);
	check_module(&findings);
	check_attached(&findings);
	check_namespace(&findings);
	check_paths(&findings);
	check_fallback(&findings);
	findings_end(&findings);
	return findings.failures ? MPDPA_EXIT_REFUSED : MPDPA_EXIT_OK;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "what keeps deadlines from working, and what mends it",
	.takes = TAKES_NETNS | TAKES_JSON,
	.run = doctor_run,
	.help =
	"Usage: mpdpa doctor [ -j ] [ -n NAME ]\n"
	"\n"
	"Looks at the kernel, the module, what is attached, and the settings and paths\n"
	"of this network namespace. Each line is ok, a note (works, but perhaps not as\n"
	"meant) or FAIL; below it stands the command that mends it. Changes nothing.\n"
	"\n"
	"Exit status: 1 if anything failed, 0 otherwise.\n",
};
