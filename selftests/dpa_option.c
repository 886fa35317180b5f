// SPDX-License-Identifier: GPL-2.0-only
/* dpa_sock's steps that read and set socket options at level SOL_MPTCP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/mptcp.h>
#include <linux/tcp.h>

#include "dpa_sock.h"

#define OPTION_MAX	8192
#define WAIT_STEP_MS	5
#define WAIT_MS		30000
#define SUBFLOWS_MAX	16

struct subflow_infos {
	struct mptcp_subflow_data	head;
	struct tcp_info			tcp[SUBFLOWS_MAX];
};

struct subflow_addrs {
	struct mptcp_subflow_data	head;
	struct mptcp_subflow_addrs	at[SUBFLOWS_MAX];
};

/*
 * chunk len=N ms=N|ns=N|by=MS [cookie=N] [alpha=N] [flags=N] [size=N] [tail=N]
 *
 * by= is absolute, in milliseconds from the start of the process; size= and
 * tail= make the structure longer or shorter and fill what is beyond it.
 */
int verb_chunk(struct state *s, const struct step *step)
{
	size_t size = number_of(step, "size", sizeof(struct mptcp_dpa_chunk));
	unsigned char value[OPTION_MAX] = {};
	struct mptcp_dpa_chunk chunk = {
		.length = number_of(step, "len", 0),
		.deadline_ns = number_of(step, "ms", 0) * NSEC_PER_MSEC,
		.cookie = number_of(step, "cookie", 0),
		.alpha_milli = number_of(step, "alpha", 0),
		.flags = number_of(step, "flags", 0),
	};
	uint64_t due_ns;

	if (option_of(step, "ns"))
		chunk.deadline_ns = number_of(step, "ns", 0);
	if (option_of(step, "by")) {
		chunk.deadline_ns = s->begun_ns +
				    number_of(step, "by", 0) * NSEC_PER_MSEC;
		chunk.flags |= MPTCP_DPA_CHUNK_F_ABS;
	}
	if (size > sizeof(value))
		return -E2BIG;
	due_ns = chunk.deadline_ns +
		 (chunk.flags & MPTCP_DPA_CHUNK_F_ABS ? 0 : now_ns());
	memcpy(value, &chunk, sizeof(chunk));
	if (size > sizeof(chunk))
		value[size - 1] = number_of(step, "tail", 0);
	if (setsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_CHUNK, value, size))
		return -errno;
	say("{\"step\":\"chunk\",\"due_ns\":%llu,\"length\":%llu}",
	    (unsigned long long)due_ns, (unsigned long long)chunk.length);
	return 0;
}

/* stream every=MS [ms=MS] [expect=N]: 0 ends it */
int verb_stream(struct state *s, const struct step *step)
{
	struct mptcp_dpa_stream stream = {
		.interval_ns = number_of(step, "every", 0) * NSEC_PER_MSEC,
		.deadline_ns = number_of(step, "ms", 0) * NSEC_PER_MSEC,
		.expected_bytes = number_of(step, "expect", 0),
	};

	return setsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_STREAM, &stream,
			  sizeof(stream)) ? -errno : 0;
}

/* prefer ENDPOINT COST */
int verb_prefer(struct state *s, const struct step *step)
{
	struct mptcp_dpa_pref pref = {
		.kind = MPTCP_DPA_PREF_ENDPOINT,
		.id = number(step->word[1]),
		.cost = number(step->word[2]),
	};

	return setsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_PREF, &pref,
			  sizeof(pref)) ? -errno : 0;
}

/* eventfd: one that the connection alone keeps from now on */
int verb_eventfd(struct state *s, const struct step *step)
{
	int fd = eventfd(0, EFD_NONBLOCK), err = 0;

	(void)step;
	if (fd < 0)
		return -errno;
	if (setsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_EVENTFD, &fd, sizeof(fd)))
		err = -errno;
	close(fd);
	return err;
}

static void say_path(const struct mptcp_dpa_path_info *p, bool first)
{
	printf("%s{\"subflow_id\":%u,\"local_id\":%u,\"cost\":%u,"
	       "\"active\":%d,\"costly\":%d,\"held\":%d,\"request_bkup\":%d,"
	       "\"estimated\":%d,\"goodput\":%llu,\"bytes_sent\":%llu,"
	       "\"bytes_acked\":%llu,\"activations\":%u}",
	       first ? "" : ",", p->subflow_id, p->local_id, p->cost,
	       !!(p->flags & MPTCP_DPA_PATH_F_ACTIVE),
	       !!(p->flags & MPTCP_DPA_PATH_F_COSTLY),
	       !!(p->flags & MPTCP_DPA_PATH_F_HELD),
	       !!(p->flags & MPTCP_DPA_PATH_F_REQUEST_BKUP),
	       !!(p->flags & MPTCP_DPA_PATH_F_ESTIMATED),
	       (unsigned long long)p->goodput, (unsigned long long)p->bytes_sent,
	       (unsigned long long)p->bytes_acked, p->activations);
}

static void say_info(const struct mptcp_dpa_info *info, unsigned int size)
{
	unsigned int i, rows = info->paths;

	if (rows > MPTCP_DPA_PATHS_MAX)
		rows = MPTCP_DPA_PATHS_MAX;
	printf("{\"step\":\"info\",\"size\":%u,\"paths\":%u,\"path_size\":%u,"
	       "\"queued\":%u,\"flags\":%u,\"length\":%llu,\"sent\":%llu,"
	       "\"acked\":%llu,\"deadline_ns\":%llu,\"cookie\":%llu,"
	       "\"alpha_milli\":%u,\"now_ns\":%llu,\"met\":%llu,"
	       "\"missed\":%llu,\"decisions\":%llu,\"path\":[",
	       size, info->paths, info->path_size, info->chunks_queued,
	       info->flags, (unsigned long long)info->chunk_length,
	       (unsigned long long)info->chunk_sent,
	       (unsigned long long)info->chunk_acked,
	       (unsigned long long)info->chunk_deadline_ns,
	       (unsigned long long)info->chunk_cookie, info->chunk_alpha_milli,
	       (unsigned long long)info->now_ns,
	       (unsigned long long)info->chunks_met,
	       (unsigned long long)info->chunks_missed,
	       (unsigned long long)info->decisions);
	for (i = 0; i < rows; i++)
		say_path(&info->path[i], !i);
	say("]}");
}

static int get_info(const struct state *s, struct mptcp_dpa_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (getsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_INFO, info, &size))
		return -errno;
	return size;
}

/* info [size=N] [got=N]: got= is the length that has to come back */
int verb_info(struct state *s, const struct step *step)
{
	socklen_t size = number_of(step, "size", sizeof(struct mptcp_dpa_info));
	union {
		struct mptcp_dpa_info	info;
		unsigned char		room[OPTION_MAX];
	} value;
	unsigned int got;

	if (size > sizeof(value))
		return -E2BIG;
	memset(&value, 0, sizeof(value));
	memset((char *)&value + size, 0xa5, sizeof(value) - size);
	if (getsockopt(s->fd, SOL_MPTCP, MPTCP_DPA_INFO, &value, &size))
		return -errno;
	got = number_of(step, "got", size);
	if (size < sizeof(value) && value.room[size] != 0xa5 &&
	    size == number_of(step, "size", 0)) {
		say("# bytes were written beyond the %u asked for", size);
		return -ERANGE;
	}
	if (got != size) {
		say("# %u bytes came back, expected %u", size, got);
		return -ERANGE;
	}
	if (size < sizeof(value.info))
		memset((char *)&value + size, 0, sizeof(value.info) - size);
	say_info(&value.info, size);
	return 0;
}

/* option get|set NAME SIZE: any option at SOL_MPTCP, by number */
int verb_option(struct state *s, const struct step *step)
{
	unsigned char value[OPTION_MAX] = {};
	int name = number(step->word[2]);
	socklen_t size = number(step->word[3]);
	int err;

	if (size > sizeof(value))
		return -E2BIG;
	if (!strcmp(step->word[1], "set"))
		err = setsockopt(s->fd, SOL_MPTCP, name, value, size);
	else
		err = getsockopt(s->fd, SOL_MPTCP, name, value, &size);
	return err ? -errno : 0;
}

/* mark: remembers the info for "same" */
int verb_mark(struct state *s, const struct step *step)
{
	int err = get_info(s, &s->mark);

	s->marked = err >= 0;
	return err < 0 ? err : 0;
}

/* same: nothing of the info changed since "mark", but what time itself changes */
int verb_same(struct state *s, const struct step *step)
{
	struct mptcp_dpa_info now;
	int err = get_info(s, &now);

	if (err < 0)
		return err;
	now.now_ns = s->mark.now_ns;
	now.chunk_left_ns = s->mark.chunk_left_ns;
	if (s->marked && !memcmp(&now, &s->mark, sizeof(now)))
		return 0;
	say("# the state changed: before, and now");
	say_info(&s->mark, sizeof(now));
	say_info(&now, sizeof(now));
	return -ESTALE;
}

static int get_subflows(int fd, struct subflow_infos *infos)
{
	socklen_t size = sizeof(*infos);

	memset(infos, 0, sizeof(*infos));
	infos->head.size_subflow_data = sizeof(infos->head);
	infos->head.size_user = sizeof(infos->tcp[0]);
	if (getsockopt(fd, SOL_MPTCP, MPTCP_TCPINFO, infos, &size))
		return -errno;
	return infos->head.num_subflows < SUBFLOWS_MAX ?
	       infos->head.num_subflows : SUBFLOWS_MAX;
}

/* Subflows that finished their handshake; 0 where that cannot be told. */
static uint64_t established(int fd)
{
	struct subflow_infos infos;
	int i, count = get_subflows(fd, &infos);
	uint64_t up = 0;

	for (i = 0; i < count; i++)
		up += infos.tcp[i].tcpi_state == 1;
	return up;
}

static uint64_t active(const struct mptcp_dpa_info *info)
{
	uint64_t up = 0;
	unsigned int i;

	for (i = 0; i < info->paths && i < MPTCP_DPA_PATHS_MAX; i++)
		up += !!(info->path[i].flags & MPTCP_DPA_PATH_F_ACTIVE);
	return up;
}

static uint64_t backups(const struct mptcp_dpa_info *info)
{
	uint64_t set = 0;
	unsigned int i;

	for (i = 0; i < info->paths && i < MPTCP_DPA_PATHS_MAX; i++)
		set |= (uint64_t)!!(info->path[i].flags &
				    MPTCP_DPA_PATH_F_REQUEST_BKUP) << i;
	return set;
}

static bool reached(const struct state *s, const struct step *step)
{
	struct mptcp_dpa_info info;

	if (option_of(step, "subflows"))
		return established(s->fd) >= number_of(step, "subflows", 0);
	if (get_info(s, &info) < 0)
		return false;
	if (option_of(step, "queued"))
		return info.chunks_queued <= number_of(step, "queued", 0);
	if (option_of(step, "active"))
		return active(&info) >= number_of(step, "active", 0);
	if (option_of(step, "acked"))
		return info.chunk_acked >= number_of(step, "acked", 0);
	if (option_of(step, "alpha"))
		return info.chunk_alpha_milli == number_of(step, "alpha", 0);
	if (option_of(step, "cost"))
		return info.paths && info.path[0].cost == number_of(step, "cost", 0);
	if (option_of(step, "backups"))
		return backups(&info) == number_of(step, "backups", 0);
	return info.chunks_met + info.chunks_missed >=
	       number_of(step, "judged", 1);
}

/*
 * wait subflows=N|queued=N|active=N|acked=N|alpha=N|cost=N|backups=MASK|
 * judged=N [within=MS]
 */
int verb_wait(struct state *s, const struct step *step)
{
	uint64_t within = number_of(step, "within", WAIT_MS) * NSEC_PER_MSEC;
	uint64_t end_ns = now_ns() + within;

	while (!reached(s, step)) {
		if (now_ns() > end_ns)
			return -ETIMEDOUT;
		nap_ms(WAIT_STEP_MS);
	}
	return 0;
}

/* subflows: bytes on each, in the kernel's order */
int verb_subflows(struct state *s, const struct step *step)
{
	struct subflow_infos infos;
	int i, count = get_subflows(s->fd, &infos);

	if (count < 0)
		return count;
	printf("{\"step\":\"subflows\",\"subflows\":[");
	for (i = 0; i < count; i++)
		printf("%s{\"state\":%u,\"bytes_sent\":%llu,\"bytes_retrans\":%llu}",
		       i ? "," : "", infos.tcp[i].tcpi_state,
		       (unsigned long long)infos.tcp[i].tcpi_bytes_sent,
		       (unsigned long long)infos.tcp[i].tcpi_bytes_retrans);
	say("]}");
	return 0;
}
