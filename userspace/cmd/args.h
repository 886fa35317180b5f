/* SPDX-License-Identifier: GPL-2.0 */
/* The words of a command line, taken one by one. Pure: looks nothing up. */
#ifndef MPDPA_CMD_ARGS_H
#define MPDPA_CMD_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct args {
	int count;
	char **words;
	char error[160];	/* why the last call failed */
};

/* The next word, or NULL at the end. */
const char *args_peek(const struct args *args);
const char *args_take(struct args *args);

/* Whether the next word is this one; takes it if so. */
bool args_accept(struct args *args, const char *word);

/* The word behind a keyword; "what" says in an error what was expected. */
const char *args_value(struct args *args, const char *keyword, const char *what);

/* A decimal number behind a keyword, within limits. */
bool args_number(struct args *args, const char *keyword, uint32_t min, uint32_t max,
		 uint32_t *number);

/* False, with an error, if words are left. */
bool args_end(struct args *args);

#define PATH_ENDPOINT_MAX	255
#define PATH_COST_MAX		1000000

/* What "path set|del|show" is asked to do. */
struct path_words {
	const char *dev;	/* NULL: none given */
	uint32_t endpoint;	/* 0: none given */
	uint32_t cost;		/* 0: none given */
};

enum path_need {
	PATH_NAME = 1 << 0,	/* dev or endpoint must be given */
	PATH_COST = 1 << 1,	/* so must cost; without this it must not */
};

/* False with args->error set. */
bool path_words_parse(struct args *args, unsigned int need, struct path_words *path);

#endif /* MPDPA_CMD_ARGS_H */
