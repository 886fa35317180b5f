// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <time.h>

#include "connshow.h"
#include "pathname.h"

static const struct {
	uint32_t flag;
	const char *name;
} path_flags[] = {
	{ MPTCP_DPA_PATH_F_ACTIVE, "active" },
	{ MPTCP_DPA_PATH_F_COSTLY, "costly" },
	{ MPTCP_DPA_PATH_F_HELD, "held" },
	{ MPTCP_DPA_PATH_F_REQUEST_BKUP, "backup" },
	{ MPTCP_DPA_PATH_F_ESTIMATED, "estimated" },
	{ MPTCP_DPA_PATH_F_FORBIDDEN, "forbidden" },
};

#define PATH_FLAGS	(sizeof(path_flags) / sizeof(path_flags[0]))

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * MPDPA_SECOND + now.tv_nsec;
}

const char *time_text(int64_t ns, char text[32])
{
	const char *sign = ns < 0 ? "-" : "";
	uint64_t us = (ns < 0 ? -(uint64_t)ns : (uint64_t)ns) / 1000;

	if (us >= 1000000)
		snprintf(text, 32, "%s%" PRIu64 ".%03" PRIu64 "s", sign, us / 1000000,
			 us / 1000 % 1000);
	else if (us >= 1000)
		snprintf(text, 32, "%s%" PRIu64 "ms", sign, us / 1000);
	else
		snprintf(text, 32, "%s%" PRIu64 "us", sign, us);
	return text;
}

static const char *late_name(uint32_t flags)
{
	switch (flags & MPTCP_DPA_CHUNK_LATE_MASK) {
	case MPTCP_DPA_CHUNK_F_SPEND:
		return "spend";
	case MPTCP_DPA_CHUNK_F_CHEAP:
		return "cheap";
	case MPTCP_DPA_CHUNK_F_TELL:
		return "tell";
	}
	return NULL;
}

static int64_t time_left(const struct mpdpa_conn_chunk *chunk, uint64_t now_ns)
{
	return chunk->deadline_ns - now_ns;
}

static void chunk_text(FILE *out, const struct mpdpa_conn_chunk *chunk, uint64_t now_ns)
{
	char left[32];

	fprintf(out, "  chunk length %" PRIu64 " sent %" PRIu64 " acked %" PRIu64 " left %s",
		chunk->length, chunk->sent, chunk->acked,
		time_text(time_left(chunk, now_ns), left));
	fprintf(out, " forecast %" PRIu64 " alpha %u.%03u cookie %" PRIu64, chunk->forecast,
		chunk->alpha_milli / 1000, chunk->alpha_milli % 1000, chunk->cookie);
	if (late_name(chunk->flags))
		fprintf(out, " late %s", late_name(chunk->flags));
	fprintf(out, "%s\n", chunk->at_risk ? " at-risk" : "");
}

static void path_text(FILE *out, const struct mptcp_dpa_path_info *path)
{
	char name[IF_NAMESIZE];
	size_t i;

	fprintf(out, "  subflow %u dev %s ", path->subflow_id,
		path->ifindex ? pathname_interface(path->ifindex, name) : "?");
	if (path->cost == MPTCP_DPA_COST_FORBIDDEN)
		fprintf(out, "cost forbidden");
	else
		fprintf(out, "cost %u", path->cost);
	fprintf(out, " goodput %llu sent %llu acked %llu activations %u", path->goodput,
		path->bytes_sent, path->bytes_acked, path->activations);
	for (i = 0; i < PATH_FLAGS; i++) {
		if (path->flags & path_flags[i].flag)
			fprintf(out, " %s", path_flags[i].name);
	}
	putc('\n', out);
}

static void pref_text(FILE *out, const struct mpdpa_path *pref)
{
	char name[PATHNAME_SIZE];

	fprintf(out, "  pref %s cost ", pathname_text(pref, name));
	if (pref->cost == MPTCP_DPA_COST_FORBIDDEN)
		fprintf(out, "forbidden\n");
	else
		fprintf(out, "%u\n", pref->cost);
}

void conn_show_text(FILE *out, const struct mpdpa_conn *conn, uint64_t now_ns)
{
	uint32_t i;

	fprintf(out, "conn %" PRIu64 " token %08x cookie %" PRIu64 " uid %u alpha ", conn->id,
		conn->token, conn->cookie, conn->uid);
	if (conn->alpha_milli)
		fprintf(out, "%u.%03u", conn->alpha_milli / 1000, conn->alpha_milli % 1000);
	else
		fprintf(out, "default");
	if (conn->overflow_ms == MPTCP_DPA_OVERFLOW_OFF)
		fprintf(out, " overflow off");
	else if (conn->overflow_ms)
		fprintf(out, " overflow %ums", conn->overflow_ms);
	fprintf(out, " queued %u met %" PRIu64 " missed %" PRIu64 " decisions %" PRIu64 "\n",
		conn->chunks_queued, conn->chunks_met, conn->chunks_missed, conn->decisions);
	if (conn->has_chunk)
		chunk_text(out, &conn->chunk, now_ns);
	for (i = 0; i < conn->paths; i++)
		path_text(out, &conn->path[i]);
	for (i = 0; i < conn->prefs; i++)
		pref_text(out, &conn->pref[i]);
}

static void chunk_json(struct json *json, const struct mpdpa_conn_chunk *chunk, uint64_t now_ns)
{
	json_object(json, "chunk");
	json_number(json, "length", chunk->length);
	json_number(json, "sent", chunk->sent);
	json_number(json, "acked", chunk->acked);
	json_number(json, "deadline_ns", chunk->deadline_ns);
	json_signed(json, "left_ns", time_left(chunk, now_ns));
	json_number(json, "forecast", chunk->forecast);
	json_number(json, "alpha_milli", chunk->alpha_milli);
	json_number(json, "cookie", chunk->cookie);
	json_string(json, "late", late_name(chunk->flags));
	json_bool(json, "at_risk", chunk->at_risk);
	json_object_end(json);
}

static void path_json(struct json *json, const struct mptcp_dpa_path_info *path)
{
	char name[IF_NAMESIZE];
	size_t i;

	json_object(json, NULL);
	json_number(json, "id", path->subflow_id);
	json_number(json, "local_id", path->local_id);
	json_string(json, "dev", path->ifindex ? pathname_interface(path->ifindex, name) : NULL);
	json_number(json, "ifindex", path->ifindex);
	if (path->cost == MPTCP_DPA_COST_FORBIDDEN)
		json_string(json, "cost", "forbidden");
	else
		json_number(json, "cost", path->cost);
	if (path->goodput)
		json_number(json, "goodput", path->goodput);
	else
		json_null(json, "goodput");
	json_number(json, "bytes_sent", path->bytes_sent);
	json_number(json, "bytes_acked", path->bytes_acked);
	json_number(json, "activations", path->activations);
	json_array(json, "flags");
	for (i = 0; i < PATH_FLAGS; i++) {
		if (path->flags & path_flags[i].flag)
			json_string(json, NULL, path_flags[i].name);
	}
	json_array_end(json);
	json_object_end(json);
}

static void rows_json(struct json *json, const struct mpdpa_conn *conn)
{
	uint32_t i;

	json_array(json, "subflows");
	for (i = 0; i < conn->paths; i++)
		path_json(json, &conn->path[i]);
	json_array_end(json);
	json_array(json, "prefs");
	for (i = 0; i < conn->prefs; i++) {
		json_object(json, NULL);
		pathname_json(json, &conn->pref[i]);
		json_object_end(json);
	}
	json_array_end(json);
}

void conn_show_json(struct json *json, const struct mpdpa_conn *conn, uint64_t now_ns)
{
	char token[16];

	snprintf(token, sizeof(token), "%08x", conn->token);
	json_object(json, NULL);
	json_number(json, "id", conn->id);
	json_string(json, "token", token);
	json_number(json, "cookie", conn->cookie);
	json_number(json, "uid", conn->uid);
	if (conn->alpha_milli)
		json_number(json, "alpha_milli", conn->alpha_milli);
	else
		json_null(json, "alpha_milli");
	if (conn->overflow_ms == MPTCP_DPA_OVERFLOW_OFF)
		json_number(json, "overflow_ms", 0);
	else if (conn->overflow_ms)
		json_number(json, "overflow_ms", conn->overflow_ms);
	else
		json_null(json, "overflow_ms");
	json_number(json, "queued", conn->chunks_queued);
	json_number(json, "met", conn->chunks_met);
	json_number(json, "missed", conn->chunks_missed);
	json_number(json, "decisions", conn->decisions);
	if (conn->has_chunk)
		chunk_json(json, &conn->chunk, now_ns);
	else
		json_null(json, "chunk");
	rows_json(json, conn);
	json_object_end(json);
}
