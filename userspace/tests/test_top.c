// SPDX-License-Identifier: GPL-2.0
/* Two looks compared, and the screen that they make. */
#include <stdlib.h>
#include <string.h>

#include "connshow.h"
#include "rates.h"
#include "screen.h"
#include "tap.h"

#define NOW	(100 * MPDPA_SECOND)

static struct rated make(uint64_t id, uint64_t acked)
{
	return (struct rated){
		.conn = {
			.id = id, .token = 0x5f1c2a3b, .chunks_queued = 2, .chunks_met = 12,
			.has_chunk = 1, .paths = 2,
			.chunk = {
				.length = 1000, .sent = 750, .acked = 500,
				.deadline_ns = NOW + MPDPA_SECOND,
			},
			.path = {
				{ .subflow_id = 1, .cost = 1, .flags = MPTCP_DPA_PATH_F_ACTIVE,
				  .bytes_acked = acked, .goodput = 1000000 },
				{ .subflow_id = 2, .cost = MPTCP_DPA_COST_FORBIDDEN,
				  .flags = MPTCP_DPA_PATH_F_FORBIDDEN },
			},
		},
	};
}

/* What is drawn, as one string. */
static char *draw(const struct screen *screen, const struct look *look,
		  const struct look *earlier)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	screen_draw(out, screen, look, earlier);
	fclose(out);
	return text;
}

static void test_rates(void)
{
	struct rated before[] = { make(1, 0), make(3, 1000000) };
	struct rated after[] = { make(2, 5), make(3, 3000000), make(4, 0) };
	struct look earlier = { .now_ns = NOW - 2 * MPDPA_SECOND, .count = 2, .at = before };
	struct look later = { .now_ns = NOW, .count = 3, .at = after };

	before[1].chunk_seen_ns = NOW - 3 * MPDPA_SECOND;
	look_compare(&later, &earlier);
	ok(after[1].goodput == 1000000 && after[1].path_goodput[0] == 1000000, "goodput");
	ok(!after[0].goodput && !after[2].goodput, "none of those that are new");
	ok(after[1].chunk_seen_ns == before[1].chunk_seen_ns && after[0].chunk_seen_ns == NOW,
	   "when a chunk was first seen");
	after[0].conn.has_chunk = 0;
	after[2].conn.chunk.deadline_ns--;
	look_sort(&later);
	ok(after[0].conn.id == 4 && after[1].conn.id == 3 && after[2].conn.id == 2,
	   "the most urgent first");
}

static void test_text(void)
{
	const struct screen screen = { .width = 80, .clock = "12:00:00" };
	struct rated rated = make(7, 0);
	struct look look = { .now_ns = NOW, .count = 1, .at = &rated };
	const struct look none = { 0 };
	char *text, *line, *rest;

	rated.goodput = 1000000;
	rated.chunk_seen_ns = NOW - MPDPA_SECOND;
	text = draw(&screen, &look, &none);
	ok(strstr(text, "[############|=====......]"), "the bar");
	ok(strstr(text, " 1.000s ") && strstr(text, " 8.0M\n"), "time and rate");
	ok(strstr(text, "in use") && strstr(text, "forbidden"), "the subflows' states");
	ok(!strchr(text, '\033'), "nothing for a terminal");
	for (rest = text; (line = strsep(&rest, "\n"));)
		ok(strlen(line) <= 80, "no more than 80 columns: %zu", strlen(line));
	free(text);
}

static unsigned int count(const char *text, const char *part)
{
	unsigned int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static void test_heights(void)
{
	struct rated at[40];
	struct look look = { .now_ns = NOW, .count = 40, .at = at };
	const struct look none = { 0 };
	unsigned int height, i;
	char *text;

	for (i = 0; i < 40; i++)
		at[i] = make(i + 1, 0);
	for (height = SCREEN_HEIGHT_MIN; height < 60; height++) {
		struct screen screen = {
			.width = 80, .height = height, .ansi = true, .clock = "12:00:00",
		};

		text = draw(&screen, &look, &none);
		ok(count(text, "\r\n") == height - 1 && count(text, " more") == 1,
		   "fills %u lines and does not scroll", height);
		free(text);
	}
	look.count = 0;
	text = draw(&(struct screen){ .width = 80, .height = 24, .clock = "" }, &look, &none);
	ok(count(text, "\n") == 23 && !strstr(text, "more"), "no connections");
	free(text);
}

static void test_times(void)
{
	char text[32];

	ok(!strcmp(time_text(-1500000000, text), "-1.500s"), "late: %s", text);
	ok(!strcmp(time_text(250000000, text), "250ms"), "%s", text);
	ok(!strcmp(time_text(15999, text), "15us"), "%s", text);
	ok(!strcmp(time_text(INT64_MIN, text), "-9223372036.854s"), "%s", text);
}

int main(void)
{
	test_rates();
	test_text();
	test_heights();
	test_times();
	return tap_end();
}
