// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "connwords.h"

static bool take_id(struct args *args, uint64_t *id)
{
	if (!args_label(args, "id", id))
		return false;
	return *id ? true : args_complain(args, "there is no connection 0");
}

bool conn_name_parse(struct args *args, struct conn_name *name)
{
	*name = (struct conn_name){ 0 };
	if (args_accept(args, "id"))
		return take_id(args, &name->id);
	if (args_accept(args, "token"))
		return args_token(args, "token", &name->token);
	return true;
}

/* Accepts a word that may come once. */
static bool accept_once(struct args *args, const char *word, bool *taken, bool *good)
{
	if (!args_accept(args, word))
		return false;
	*good = !*taken || args_complain(args, "\"%s\" given twice", word);
	*taken = true;
	return true;
}

/* "default" is for taking the value of what is next above. */
static bool take_alpha(struct args *args, uint32_t *alpha_milli)
{
	if (args_accept(args, "default")) {
		*alpha_milli = 0;
		return true;
	}
	if (!args_milli(args, "alpha", alpha_milli))
		return false;
	if (*alpha_milli < MPTCP_DPA_ALPHA_MIN || *alpha_milli > MPTCP_DPA_ALPHA_MAX)
		return args_complain(args, "\"alpha\" is out of range, 0.1 to 4");
	return true;
}

/* "off" is no waiting, "default" what the namespace says. */
static bool take_overflow(struct args *args, uint32_t *overflow_ms)
{
	uint64_t ns;

	*overflow_ms = 0;
	if (args_accept(args, "default"))
		return true;
	*overflow_ms = MPTCP_DPA_OVERFLOW_OFF;
	if (args_accept(args, "off"))
		return true;
	if (!args_duration(args, "overflow", &ns))
		return false;
	if (ns < 1000000 || ns / 1000000 > MPTCP_DPA_OVERFLOW_MAX)
		return args_complain(args, "\"overflow\" is out of range, 1ms to %us",
				     MPTCP_DPA_OVERFLOW_MAX / 1000);
	if (ns % 1000000)
		return args_complain(args, "\"overflow\" is in whole milliseconds");
	*overflow_ms = ns / 1000000;
	return true;
}

static bool take_pref(struct args *args, struct conn_words *words)
{
	const unsigned int need = PATH_NAME | PATH_COST | PATH_PREF;
	struct path_words pref = { 0 };
	bool good = true;

	if (words->pref_count == MPTCP_DPA_PREFS_MAX)
		return args_complain(args, "more than %d times \"pref\"", MPTCP_DPA_PREFS_MAX);
	while (good && path_words_accept(args, need, &pref, &good))
		;
	if (!good || !path_words_complete(args, need, &pref))
		return false;
	words->prefs[words->pref_count++] = pref;
	return true;
}

static bool take_late(struct args *args, uint32_t *flags)
{
	static const struct {
		const char *name;
		uint32_t flag;
	} policies[] = {
		{ "spend", MPTCP_DPA_CHUNK_F_SPEND },
		{ "cheap", MPTCP_DPA_CHUNK_F_CHEAP },
		{ "tell", MPTCP_DPA_CHUNK_F_TELL },
	};
	const char *word = args_value(args, "late", "\"spend\", \"cheap\" or \"tell\"");
	size_t i;

	if (!word)
		return false;
	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		if (strcmp(word, policies[i].name))
			continue;
		*flags = policies[i].flag;
		return true;
	}
	return args_complain(args, "no late policy \"%s\"; spend, cheap or tell", word);
}

/* The words behind "chunk BYTES" that belong to it. */
static bool take_chunk_words(struct args *args, struct chunk_words *chunk)
{
	bool good = true;

	while (good && args_peek(args)) {
		if (accept_once(args, "in", &chunk->has_in, &good))
			good = good && args_duration(args, "in", &chunk->in_ns);
		else if (accept_once(args, "cookie", &chunk->has_cookie, &good))
			good = good && args_label(args, "cookie", &chunk->cookie);
		else if (accept_once(args, "late", &chunk->has_late, &good))
			good = good && take_late(args, &chunk->flags);
		else
			break;
	}
	return good;
}

static bool take_chunk(struct args *args, struct conn_words *words)
{
	if (!args_amount(args, "chunk", &words->chunk.length) ||
	    !take_chunk_words(args, &words->chunk))
		return false;
	if (!words->chunk.length)
		return args_complain(args, "a chunk of 0 bytes");
	if (!words->chunk.has_in)
		return args_complain(args, "when is the chunk due? give \"in TIME\"");
	if (!words->chunk.in_ns)
		return args_complain(args, "a chunk cannot be due in no time at all");
	return true;
}

bool conn_words_parse(struct args *args, struct conn_words *words)
{
	bool good;

	*words = (struct conn_words){ 0 };
	good = conn_name_parse(args, &words->name);
	if (good && !words->name.id && !words->name.token)
		return args_complain(args, "which connection? give \"id N\" or \"token T\"");
	if (good && !args_peek(args))
		return args_complain(args, "change what? give \"alpha\", \"overflow\", \"pref\" or \"chunk\"");
	while (good && args_peek(args)) {
		if (accept_once(args, "alpha", &words->has_alpha, &good))
			good = good && take_alpha(args, &words->alpha_milli);
		else if (accept_once(args, "overflow", &words->has_overflow, &good))
			good = good && take_overflow(args, &words->overflow_ms);
		else if (accept_once(args, "chunk", &words->has_chunk, &good))
			good = good && take_chunk(args, words);
		else if (args_accept(args, "pref"))
			good = take_pref(args, words);
		else
			good = args_end(args);
	}
	return good;
}
