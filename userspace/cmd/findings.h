/* SPDX-License-Identifier: GPL-2.0 */
/* What the doctor finds, told as text or JSON while it looks. */
#ifndef MPDPA_CMD_FINDINGS_H
#define MPDPA_CMD_FINDINGS_H

#include <stdbool.h>

#include "json.h"

struct pm_settings;

enum verdict {
	VERDICT_OK,
	VERDICT_NOTE,	/* works, but perhaps not as meant */
	VERDICT_FAIL,
};

struct findings {
	struct json json;
	bool as_json;
	const char *netns;	/* commands are to be run in it; may be NULL */
	unsigned int failures;
};

void findings_begin(struct findings *findings, bool as_json, const char *netns);
void findings_end(struct findings *findings);

/* Text is formatted; "mend" is the command that puts it right, or NULL. */
__attribute__((format(printf, 5, 6)))
void finding(struct findings *findings, enum verdict verdict, const char *check,
	     const char *mend, const char *format, ...);

/* What loads the module, and builds it before if it is not there for this kernel. */
const char *module_mend(void);

/* In the doctor's order. */
void check_kernel(struct findings *findings);
void check_bpf(struct findings *findings);
void check_module(struct findings *findings);
void check_attached(struct findings *findings);
void check_namespace(struct findings *findings);
void check_paths(struct findings *findings);
void check_routes(struct findings *findings, const struct pm_settings *settings);
void check_fallback(struct findings *findings);

#endif /* MPDPA_CMD_FINDINGS_H */
