// SPDX-License-Identifier: GPL-2.0-only
/* dpa_sock's steps that move bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "dpa_sock.h"

/*
 * The bytes repeat after this many, so that one in another place shows: no
 * segment, window or burst is a multiple of the prime.
 */
#define PERIOD		65521
#define BLOCK		65536

static unsigned char pattern[PERIOD + BLOCK];

static void fill_pattern(void)
{
	uint32_t x = 1;
	size_t i;

	if (pattern[1])
		return;
	for (i = 0; i < PERIOD; i++) {
		x = x * 1664525 + 1013904223;
		pattern[i] = x >> 24 | 1;
	}
	for (; i < sizeof(pattern); i++)
		pattern[i] = pattern[i - PERIOD];
}

/* FNV-1a of a stream, of which so many bytes have gone before */
static void hash_more(uint64_t *hash, uint64_t before,
		      const unsigned char *data, size_t length)
{
	uint64_t h = before ? *hash : 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ data[i]) * 0x100000001b3;
	*hash = h;
}

/* The next bytes of the pattern, at most a block of them: how many were taken. */
static ssize_t send_some(struct state *s, uint64_t most, int flags)
{
	const unsigned char *data = pattern + s->sent % PERIOD;
	ssize_t done;

	do {
		done = send(s->fd, data, most < BLOCK ? most : BLOCK,
			    flags | MSG_NOSIGNAL);
	} while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	hash_more(&s->sent_hash, s->sent, data, done);
	s->sent += done;
	return done;
}

/* send N: the next N bytes of the pattern */
int verb_send(struct state *s, const struct step *step)
{
	uint64_t left = number(step->word[1]);
	uint64_t begin_ns = now_ns();

	fill_pattern();
	while (left) {
		ssize_t done = send_some(s, left, 0);

		if (done < 0)
			return done;
		left -= done;
	}
	say("{\"step\":\"send\",\"begin_ns\":%llu,\"end_ns\":%llu,\"hash\":\"%016llx\",\"sent\":%llu}",
	    (unsigned long long)begin_ns, (unsigned long long)now_ns(),
	    (unsigned long long)s->sent_hash, (unsigned long long)s->sent);
	return 0;
}

/*
 * hammer MS [most=N] STREAM...: for so long sets the stream, as "stream" does, and
 * sends a byte, over and over, until one is not taken at once or N were; tells how
 * many calls it made
 */
int verb_hammer(struct state *s, const struct step *step)
{
	uint64_t most = number_of(step, "most", UINT64_MAX), calls = 0;
	uint64_t begun_ns = now_ns(), is_ns = begun_ns;
	uint64_t end_ns = begun_ns + number(step->word[1]) * NSEC_PER_MSEC;

	fill_pattern();
	for (; calls / 2 < most && is_ns < end_ns; is_ns = now_ns()) {
		int err = verb_stream(s, step);
		ssize_t done = err ? 0 : send_some(s, 1, MSG_DONTWAIT);

		if (done == -EAGAIN)
			break;
		if (err || done < 0)
			return err ? err : done;
		calls += 2;
	}
	if (is_ns < end_ns)
		nap_ms((end_ns - is_ns) / NSEC_PER_MSEC);
	say("{\"step\":\"hammer\",\"calls\":%llu,\"ms\":%llu}",
	    (unsigned long long)calls,
	    (unsigned long long)((now_ns() - begun_ns) / NSEC_PER_MSEC));
	return 0;
}

/* Are these the bytes that "send" put there? */
static bool as_sent(const struct state *s, const unsigned char *data, size_t length)
{
	return !memcmp(data, pattern + s->received % PERIOD, length);
}

static void say_arrival(unsigned int index, uint64_t at_ns, uint64_t received)
{
	say("{\"step\":\"arrival\",\"index\":%u,\"at_ns\":%llu,\"received\":%llu}",
	    index, (unsigned long long)at_ns, (unsigned long long)received);
}

/*
 * drain [MARK...]: reads to the end. A mark is a number of bytes after the one
 * before it, and the time is told at which it had come.
 */
int verb_drain(struct state *s, const struct step *step)
{
	uint64_t first_ns = 0, last_ns = 0, gap_ns = 0;
	static unsigned char data[BLOCK];
	int next = 1;
	uint64_t mark = step->count > 1 ? number(step->word[1]) : 0;
	ssize_t done;

	fill_pattern();
	while ((done = recv(s->fd, data, sizeof(data), 0)) > 0) {
		uint64_t at_ns = now_ns();

		if (!as_sent(s, data, done))
			return -EILSEQ;
		if (last_ns && at_ns - last_ns > gap_ns)
			gap_ns = at_ns - last_ns;
		last_ns = at_ns;
		if (!first_ns)
			first_ns = at_ns;
		hash_more(&s->received_hash, s->received, data, done);
		s->received += done;
		while (next < step->count && s->received >= mark) {
			say_arrival(next - 1, at_ns, s->received);
			if (++next < step->count)
				mark += number(step->word[next]);
		}
	}
	if (done < 0)
		return -errno;
	say("{\"step\":\"drain\",\"received\":%llu,\"first_ns\":%llu,\"last_ns\":%llu,\"gap_ns\":%llu,\"hash\":\"%016llx\"}",
	    (unsigned long long)s->received, (unsigned long long)first_ns,
	    (unsigned long long)last_ns, (unsigned long long)gap_ns,
	    (unsigned long long)s->received_hash);
	return 0;
}

/* recv N: reads N bytes and checks them */
int verb_recv(struct state *s, const struct step *step)
{
	uint64_t left = number(step->word[1]);
	unsigned char data[4096];

	fill_pattern();
	while (left) {
		size_t most = left < sizeof(data) ? left : sizeof(data);
		ssize_t done = recv(s->fd, data, most, 0);

		if (done < 0)
			return -errno;
		if (!done)
			return -ENODATA;
		if (!as_sent(s, data, done))
			return -EILSEQ;
		hash_more(&s->received_hash, s->received, data, done);
		s->received += done;
		left -= done;
	}
	return 0;
}
