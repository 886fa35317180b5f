// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "connshow.h"
#include "pathname.h"
#include "screen.h"

#define BAR_SIZE	24
#define LINE_SIZE	512

#define ANSI_REVERSE	"\033[7m"
#define ANSI_RED	"\033[31m"
#define ANSI_PLAIN	"\033[0m"
#define ANSI_CLEAR	"\033[K"

struct drawing {
	FILE *out;
	const struct screen *screen;
	unsigned int left;	/* lines; meaningless without a height */
};

/* One line, cut at the edge of the screen. */
static void put_line(struct drawing *drawing, const char *colour, const char *text)
{
	const struct screen *screen = drawing->screen;
	bool coloured = screen->ansi && colour;

	/* The line before ends here, so that the last one does not scroll. */
	fprintf(drawing->out, "%s%.*s%s%s", coloured ? colour : "", (int)screen->width, text,
		coloured ? ANSI_PLAIN : "", screen->ansi ? ANSI_CLEAR : "");
	drawing->left--;
	if (drawing->left || !screen->height)
		fputs(screen->ansi ? "\r\n" : "\n", drawing->out);
}

/* Bits a second, in at most seven characters. */
static const char *rate_text(uint64_t bytes, char text[16])
{
	static const char units[] = " kMGT";
	double bits = 8.0 * bytes;
	size_t unit = 0;

	while (bits >= 999.95 && unit < sizeof(units) - 2) {
		bits /= 1000;
		unit++;
	}
	if (unit)
		snprintf(text, 16, "%.1f%c", bits, units[unit]);
	else
		snprintf(text, 16, "%.0f", bits);
	return text;
}

/* Which part of the bar, the ends included; 0 of 0 is none. */
static size_t part(uint64_t of, uint64_t whole)
{
	if (!whole)
		return 0;
	return of >= whole ? BAR_SIZE : (size_t)((double)of * BAR_SIZE / whole);
}

/* # acknowledged, = sent, and | where the time to the deadline has come to. */
static void draw_bar(const struct rated *rated, uint64_t now_ns, char bar[BAR_SIZE + 3])
{
	const struct mpdpa_conn_chunk *chunk = &rated->conn.chunk;
	size_t acked = part(chunk->acked, chunk->length);
	size_t sent = part(chunk->sent, chunk->length);
	size_t at;

	memset(bar, ' ', BAR_SIZE + 2);
	bar[BAR_SIZE + 2] = '\0';
	if (!rated->conn.has_chunk)
		return;
	bar[0] = '[';
	bar[BAR_SIZE + 1] = ']';
	memset(bar + 1, '.', BAR_SIZE);
	memset(bar + 1, '=', sent);
	memset(bar + 1, '#', acked);
	if (chunk->deadline_ns <= rated->chunk_seen_ns)
		return;
	at = part(now_ns - rated->chunk_seen_ns, chunk->deadline_ns - rated->chunk_seen_ns);
	bar[1 + (at < BAR_SIZE ? at : BAR_SIZE - 1)] = '|';
}

static void draw_conn(struct drawing *drawing, const struct rated *rated, uint64_t now_ns)
{
	const struct mpdpa_conn *conn = &rated->conn;
	int64_t left = conn->chunk.deadline_ns - now_ns;
	char line[LINE_SIZE], bar[BAR_SIZE + 3], rate[16], time[32] = "-";
	bool bad = conn->has_chunk && (conn->chunk.at_risk || left < 0);

	draw_bar(rated, now_ns, bar);
	if (conn->has_chunk)
		time_text(left, time);
	snprintf(line, sizeof(line), "%6" PRIu64 " %08x %4u %6" PRIu64 " %6" PRIu64
		 " %s %8s%c %8s", conn->id, conn->token, conn->chunks_queued, conn->chunks_met,
		 conn->chunks_missed, bar, time, conn->chunk.at_risk ? '!' : ' ',
		 rate_text(rated->goodput, rate));
	put_line(drawing, bad ? ANSI_RED : NULL, line);
}

static const char *path_state(const struct mptcp_dpa_path_info *path)
{
	if (path->flags & MPTCP_DPA_PATH_F_FORBIDDEN)
		return "forbidden";
	if (!(path->flags & MPTCP_DPA_PATH_F_ACTIVE))
		return "down";
	return path->flags & MPTCP_DPA_PATH_F_HELD ? "held" : "in use";
}

static void draw_path(struct drawing *drawing, const struct rated *rated, uint32_t i)
{
	const struct mptcp_dpa_path_info *path = &rated->conn.path[i];
	char line[LINE_SIZE], name[IF_NAMESIZE], rate[16], estimate[16] = "-", cost[16] = "-";

	if (path->cost != MPTCP_DPA_COST_FORBIDDEN)
		snprintf(cost, sizeof(cost), "%u", path->cost);
	if (path->goodput)
		rate_text(path->goodput, estimate);
	snprintf(line, sizeof(line), "       %3u %-15s cost %-7s %-9s  estimate %7s %12s",
		 path->subflow_id,
		 path->ifindex ? pathname_interface(path->ifindex, name) : "?", cost,
		 path_state(path), estimate, rate_text(rated->path_goodput[i], rate));
	put_line(drawing, NULL, line);
}

static void draw_head(struct drawing *drawing, const struct look *look,
		      const struct look *earlier)
{
	const struct screen *screen = drawing->screen;
	uint64_t ns = earlier->now_ns ? look->now_ns - earlier->now_ns : 0;
	uint64_t decisions = look->stats.decisions - earlier->stats.decisions;
	char line[LINE_SIZE];

	snprintf(line, sizeof(line), "mpdpa top - %s%s%s  conns %zu  met %" PRIu64
		 "  missed %" PRIu64 "  decisions %.0f/s", screen->clock,
		 screen->where ? "  netns " : "", screen->where ?: "", look->count,
		 look->stats.chunks_met, look->stats.chunks_missed,
		 ns ? (double)decisions * MPDPA_SECOND / ns : 0);
	put_line(drawing, NULL, line);
	snprintf(line, sizeof(line), "%6s %-8s %4s %6s %6s %-26s %8s  %8s%*s", "CONN", "TOKEN",
		 "WAIT", "MET", "MISSED", "CHUNK #acked =sent |now", "LEFT", "BIT/S",
		 (int)screen->width, "");
	put_line(drawing, ANSI_REVERSE, line);
}

/* The lines of a connection if there is room for all of them. */
static bool draw_rated(struct drawing *drawing, const struct rated *rated, uint64_t now_ns)
{
	uint32_t i;

	/* and one for what did not fit */
	if (drawing->screen->height && drawing->left < 2 + rated->conn.paths)
		return false;
	draw_conn(drawing, rated, now_ns);
	for (i = 0; i < rated->conn.paths; i++)
		draw_path(drawing, rated, i);
	return true;
}

void screen_draw(FILE *out, const struct screen *screen, const struct look *look,
		 const struct look *earlier)
{
	struct drawing drawing = { .out = out, .screen = screen, .left = screen->height };
	char line[LINE_SIZE];
	size_t i;

	draw_head(&drawing, look, earlier);
	for (i = 0; i < look->count; i++) {
		if (!draw_rated(&drawing, &look->at[i], look->now_ns))
			break;
	}
	if (i < look->count) {
		snprintf(line, sizeof(line), "       and %zu more", look->count - i);
		put_line(&drawing, NULL, line);
	}
	while (screen->height && drawing.left)
		put_line(&drawing, NULL, "");
}
