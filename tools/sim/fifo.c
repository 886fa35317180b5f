// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "fifo.h"

static void grow(struct fifo *f)
{
	uint32_t room = f->room ? f->room * 2 : 64, i;
	struct packet *to = malloc(room * sizeof(*to));

	if (!to)
		abort();
	for (i = 0; i < f->count; i++)
		to[i] = *fifo_at(f, i);
	free(f->at);
	f->at = to;
	f->head = 0;
	f->room = room;
}

void fifo_push(struct fifo *f, const struct packet *p)
{
	if (f->count == f->room)
		grow(f);
	f->at[(f->head + f->count++) % f->room] = *p;
}

void fifo_push_front(struct fifo *f, const struct packet *p)
{
	if (f->count == f->room)
		grow(f);
	f->head = (f->head + f->room - 1) % f->room;
	f->at[f->head] = *p;
	f->count++;
}

struct packet *fifo_first(struct fifo *f)
{
	return f->count ? &f->at[f->head] : NULL;
}

struct packet *fifo_at(struct fifo *f, uint32_t i)
{
	return &f->at[(f->head + i) % f->room];
}

void fifo_pop(struct fifo *f)
{
	f->head = (f->head + 1) % f->room;
	f->count--;
}

void fifo_push_due(struct fifo *f, uint64_t when_ns, const struct packet *p)
{
	fifo_push(f, p);
	fifo_at(f, f->count - 1)->when_ns = when_ns;
}

struct packet *fifo_pop_due(struct fifo *f, uint64_t now_ns)
{
	struct packet *p = fifo_first(f);

	if (!p || p->when_ns > now_ns)
		return NULL;
	fifo_pop(f);
	return p;
}
