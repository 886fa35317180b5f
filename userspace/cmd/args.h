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

/* A number up to 2^64-1 that only tells one thing from another. */
bool args_label(struct args *args, const char *keyword, uint64_t *label);

/* How much: up to 2^64-1, with a suffix k, M or G for thousands, and so on. */
bool args_amount(struct args *args, const char *keyword, uint64_t *amount);

/* A number of thousandths written as a decimal fraction: 0.8 is 800. */
bool args_milli(struct args *args, const char *keyword, uint32_t *milli);

/* A length of time, such as 1.5s or 250ms, as nanoseconds. */
bool args_duration(struct args *args, const char *keyword, uint64_t *ns);

/* A connection's token as ss(8) writes it: hexadecimal. */
bool args_token(struct args *args, const char *keyword, uint32_t *token);

/* Formats into args->error and is false. */
__attribute__((format(printf, 2, 3)))
bool args_complain(struct args *args, const char *format, ...);

/* False, with an error, if words are left. */
bool args_end(struct args *args);

#define PATH_ENDPOINT_MAX	255

/* Names a path, and says what it costs. */
struct path_words {
	const char *dev;	/* NULL: none given */
	const char *addr;	/* NULL: none given; an address if there is one */
	uint32_t endpoint;	/* 0: none given */
	uint32_t cost;		/* 0: none given, or taken away */
	bool has_cost;
};

enum path_need {
	PATH_NAME = 1 << 0,	/* dev, endpoint or addr must be given */
	PATH_COST = 1 << 1,	/* so must cost; without this it must not */
	PATH_PREF = 1 << 2,	/* the cost may also be "forbidden" or "none" */
};

/* Whether the next word begins or goes on with such a path; takes it if so. */
bool path_words_accept(struct args *args, unsigned int need, struct path_words *path,
		       bool *good);

/* False with args->error set if something is missing, or too much. */
bool path_words_complete(struct args *args, unsigned int need, const struct path_words *path);

/* A path and nothing else. False with args->error set. */
bool path_words_parse(struct args *args, unsigned int need, struct path_words *path);

#endif /* MPDPA_CMD_ARGS_H */
