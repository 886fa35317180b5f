/* SPDX-License-Identifier: GPL-2.0 */
/* The words of "mpdpa conn". Pure: looks nothing up. */
#ifndef MPDPA_CMD_CONNWORDS_H
#define MPDPA_CMD_CONNWORDS_H

#include "args.h"
#include "mpdpa.h"

/* Which connection; both 0: none was named. */
struct conn_name {
	uint64_t id;
	uint32_t token;
};

/* The chunk that it is to queue. */
struct chunk_words {
	uint64_t length;
	uint64_t in_ns;
	uint64_t cookie;
	uint32_t flags;		/* MPTCP_DPA_CHUNK_F_* */
	bool has_in;
	bool has_cookie;
	bool has_late;
};

/* What "conn set" is asked to do. */
struct conn_words {
	struct conn_name name;
	bool has_alpha;
	bool has_chunk;
	bool has_overflow;
	uint32_t alpha_milli;
	uint32_t overflow_ms;
	struct chunk_words chunk;
	unsigned int pref_count;
	struct path_words prefs[MPTCP_DPA_PREFS_MAX];
};

/* Takes "id N" or "token T" if it comes next; false with args->error set. */
bool conn_name_parse(struct args *args, struct conn_name *name);

/* False with args->error set. */
bool conn_words_parse(struct args *args, struct conn_words *words);

#endif /* MPDPA_CMD_CONNWORDS_H */
