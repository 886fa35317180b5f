/* SPDX-License-Identifier: GPL-2.0-only */
/* dpa_sock: what its parts share. */
#ifndef DPA_SOCK_H
#define DPA_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/mptcp_dpa_sock.h>

#include "mptcp.h"

/* words of one step, the verb itself included */
#define WORDS_MAX	80

#define NSEC_PER_MSEC	1000000ULL

/* A step: its words, and what is expected of it. */
struct step {
	int	count;
	char	*word[WORDS_MAX];
	int	expected;	/* errno; 0: success; -1: anything */
};

/* The process: one socket, and the stream on it. */
struct state {
	int		fd;		/* the socket of all steps; -1: none */
	int		listener;	/* of which accept takes one */
	uint64_t	begun_ns;	/* CLOCK_MONOTONIC at the start */
	uint64_t	sent;
	uint64_t	received;
	uint64_t	sent_hash;	/* of all bytes so far */
	uint64_t	received_hash;
	bool		in_child;
	bool		marked;
	struct mptcp_dpa_info mark;
};

uint64_t now_ns(void);
void nap_ms(uint64_t ms);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t number(const char *text);
const char *option_of(const struct step *step, const char *key);
uint64_t number_of(const struct step *step, const char *key, uint64_t otherwise);

/* verbs: 0 or a negative errno */
int verb_chunk(struct state *s, const struct step *step);
int verb_stream(struct state *s, const struct step *step);
int verb_prefer(struct state *s, const struct step *step);
int verb_eventfd(struct state *s, const struct step *step);
int verb_info(struct state *s, const struct step *step);
int verb_option(struct state *s, const struct step *step);
int verb_mark(struct state *s, const struct step *step);
int verb_same(struct state *s, const struct step *step);
int verb_wait(struct state *s, const struct step *step);
int verb_subflows(struct state *s, const struct step *step);

int verb_send(struct state *s, const struct step *step);
int verb_drain(struct state *s, const struct step *step);
int verb_recv(struct state *s, const struct step *step);
int verb_hammer(struct state *s, const struct step *step);

#endif
