// SPDX-License-Identifier: GPL-2.0
/* The words of "conn set": amounts, times, fractions, what belongs together. */
#include <string.h>

#include "connwords.h"
#include "tap.h"

#define WORDS_MAX	48

static int split(char *line, char **words)
{
	char *word, *rest = line;
	int count = 0;

	while ((word = strsep(&rest, " ")) && count < WORDS_MAX)
		words[count++] = word;
	return count;
}

static bool parse(const char *line, struct conn_words *words, struct args *args)
{
	static char copy[400], *list[WORDS_MAX];

	strcpy(copy, line);
	*args = (struct args){ .words = list, .count = split(copy, list) };
	return conn_words_parse(args, words);
}

static const struct {
	const char *line;
	const char *error;
} refusals[] = {
	{ "alpha 1", "which connection" },
	{ "id", "needs a number" },
	{ "id 0 alpha 1", "no connection 0" },
	{ "token 0 alpha 1", "no token" },
	{ "token 123456789 alpha 1", "no token" },
	{ "token -1 alpha 1", "no token" },
	{ "id 7", "change what" },
	{ "id 7 token 8 alpha 1", "unexpected word \"token\"" },
	{ "id 7 alpha 0.0999", "at most three decimals" },
	{ "id 7 alpha 0.099", "out of range" },
	{ "id 7 alpha 4.001", "out of range" },
	{ "id 7 alpha 1.", NULL },
	{ "id 7 alpha 0.8000", NULL },
	{ "id 7 alpha 0.8001", "at most three decimals" },
	{ "id 7 alpha 0.80001", "not a number" },
	{ "id 7 alpha 0.800000001", "not a number" },
	{ "id 7 alpha .5", "not a number" },
	{ "id 7 alpha -1", "not a number" },
	{ "id 7 pref", "which path" },
	{ "id 7 pref dev a cost 3 cost 4", "twice" },
	{ "id 7 pref dev a addr ::1 cost 3", "not both" },
	{ "id 7 pref dev a cost never", "not a number" },
	{ "id 7 chunk", "needs a number" },
	{ "id 7 chunk 5T in 1s", "expected a whole one, such as 1500, 20k, 5M or 2G" },
	{ "id 7 chunk 1.5G in 1s", "expected a whole one, such as" },
	{ "id 7 chunk 1g in 1s", "expected a whole one, such as" },
	{ "id 7 chunk 5kk in 1s", "not a number" },
	{ "id 7 chunk 99999999999G in 1s", "out of range" },
	{ "id 7 chunk 5 in", "needs a length of time" },
	{ "id 7 chunk 5 in 1", "no length of time" },
	{ "id 7 chunk 5 in 1d", "expected a number with ns, us, ms, s, min or h" },
	{ "id 7 chunk 5 in 0.5min", NULL },
	{ "id 7 chunk 5 in 1h", NULL },
	{ "id 7 chunk 5 in 1.5ns", "no length of time" },
	{ "id 7 chunk 5 in 1.00ns", NULL },
	{ "id 7 chunk 5 in 1.00000000001s", "no length of time" },
	{ "id 7 chunk 5 in 0.00000000005min", "no length of time" },
	{ "id 7 chunk 5 in s", "no length of time" },
	{ "id 7 chunk 5 in 99999999999999999999s", "no length of time" },
	{ "id 7 chunk 5 in 0s", "no time at all" },
	{ "id 7 chunk 5 late tell", "when is the chunk due" },
	{ "id 7k alpha 1", "not a number" },
	{ "id 18446744073709551616 alpha 1", "out of range" },
	{ "id 7 chunk 5k in 1s cookie 5k", "not a number" },
	{ "id 7 chunk 5k in 1s cookie -5", "not a number" },
	{ "id 7 overflow 1.5ms", "whole milliseconds" },
	{ "id 7 overflow 1.5s", NULL },
	{ "id 7 overflow 0.9ms", "out of range" },
	{ "id 7 chunk 5 in 1s chunk 6 in 1s", "twice" },
	{ "id 7 chunk 5 in 1s late", "needs \"spend\"" },
	{ "id 7 chunk 5 in 1s late cheap late tell", "\"late\" given twice" },
	{ "id 7 chunk 5 in 0s in 1s", "\"in\" given twice" },
	{ "id 7 chunk 5 in 1s cookie 0 cookie 3", "\"cookie\" given twice" },
	{ "id 7 alpha default alpha 1", "\"alpha\" given twice" },
	{ "id 7 overflow off alpha 1 overflow 1s", "\"overflow\" given twice" },
	{ "id 7 flags 3", "unexpected word \"flags\"" },
};

static void test_refusals(void)
{
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct conn_words words;
		struct args args;
		bool good = parse(refusals[i].line, &words, &args);

		if (refusals[i].error)
			good = !good && strstr(args.error, refusals[i].error);
		ok(good, "\"%s\": %s", refusals[i].line, args.error);
	}
}

static const struct {
	const char *word;
	uint64_t ns;
} times[] = {
	{ "7ns", 7 }, { "2us", 2000 }, { "250ms", 250000000 }, { "1.5s", 1500000000 },
	{ "1.000000001s", 1000000001 }, { "0.5min", 30000000000 }, { "1h", 3600000000000 },
};

static void test_times(void)
{
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct conn_words words;
		struct args args;
		char line[80];

		snprintf(line, sizeof(line), "id 7 chunk 5M in %s", times[i].word);
		ok(parse(line, &words, &args) && words.chunk.in_ns == times[i].ns &&
		   words.chunk.length == 5000000, "%s", line);
	}
}

static void test_all(void)
{
	struct conn_words words;
	struct args args;

	ok(parse("token 5F1c2a3b alpha 0.8 pref dev wwan0 cost forbidden pref addr ::1 cost none "
		 "chunk 10k cookie 3 late tell in 2s pref endpoint 3 cost 5", &words, &args),
	   "everything at once: %s", args.error);
	ok(words.name.token == 0x5f1c2a3b && words.has_alpha && words.alpha_milli == 800,
	   "token and alpha");
	ok(words.pref_count == 3 && words.prefs[0].cost == MPTCP_DPA_COST_FORBIDDEN &&
	   !words.prefs[1].cost && words.prefs[2].endpoint == 3 && words.prefs[2].cost == 5,
	   "preferences");
	ok(words.has_chunk && words.chunk.length == 10000 && words.chunk.in_ns == 2000000000 &&
	   words.chunk.cookie == 3 && words.chunk.flags == MPTCP_DPA_CHUNK_F_TELL, "chunk");
	ok(parse("id 18446744073709551615 alpha default", &words, &args) &&
	   words.name.id == UINT64_MAX && words.has_alpha && !words.alpha_milli, "alpha default");
	ok(!parse("id 1 pref dev a cost 1 pref dev b cost 1 pref dev c cost 1 pref dev d cost 1 "
		  "pref dev e cost 1 pref dev f cost 1 pref dev g cost 1", &words, &args) &&
	   strstr(args.error, "more than 6 times"), "too many preferences");
}

int main(void)
{
	test_refusals();
	test_times();
	test_all();
	return tap_end();
}
