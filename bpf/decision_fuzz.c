// SPDX-License-Identifier: GPL-2.0-only
/*
 * decision.h under libFuzzer and UBSAN: any connection, any paths, over a
 * course of decisions. The input is read as the state, then as a list of steps;
 * where it ends, zeros follow. bpf/corpus has inputs that reach what there is.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "decision.h"

#define STEPS_MAX	64

struct input {
	const unsigned char *at;
	size_t left;
};

/* what happened to one path until the next decision */
struct step {
	__u64 passed_ns;
	__u64 acked;
	__u64 rtt_ns;
	__u32 cost;
	__u8 path;
	__u8 busy;
	__u8 active;
	__u8 decides;
};

static void take(struct input *in, void *to, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memset(to, 0, size);
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

static void need(int good)
{
	if (!good)
		abort();
}

/* Forecast and rule on what the outlook has, and what they promise of it. */
static void decide(struct dpa_state *st)
{
	const struct dpa_outlook *o = &st->outlook;
	__u32 was = st->cost_limit;

	dpa_forecast(st);
	need(!(st->at_risk && o->unsure));
	st->cost_limit = dpa_threshold(st);
	/* some path is within the limit, if there is one at all */
	need(st->cost_limit >= o->cheapest);
	/* one cost at a time, never past what there is */
	need(st->cost_limit == was || st->cost_limit == o->below ||
	     st->cost_limit == o->above || st->cost_limit == o->cheapest);
}

static void run_step(struct dpa_state *st, const struct step *step)
{
	struct dpa_path *row = &st->path[step->path % MPTCP_DPA_PATHS_MAX];
	__u16 samples = row->samples;

	st->now_ns += step->passed_ns;
	if (step->cost)
		row->cost = step->cost;
	/* the module gives every path a cost */
	if (!row->cost)
		row->cost = MPTCP_DPA_COST_DEFAULT;
	dpa_observe(row, st->now_ns, step->acked, step->busy, step->rtt_ns);
	/* a sample was taken: no rate is beyond what the rule believes */
	if (row->samples != samples && !samples)
		need(row->goodput <= DPA_RATE_MAX);
	if (step->active)
		dpa_outlook_add(&st->outlook, row, st->cost_limit, step->rtt_ns);
	if (!step->decides)
		return;
	decide(st);
	st->outlook = (struct dpa_outlook){};
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct input in = { data, size };
	struct dpa_state st;
	struct step step;
	int i;

	take(&in, &st, sizeof(st));
	st.outlook = (struct dpa_outlook){};
	/* what the options let through */
	if (st.alpha_milli > MPTCP_DPA_ALPHA_MAX)
		st.alpha_milli = MPTCP_DPA_ALPHA_MAX;
	for (i = 0; i < STEPS_MAX && in.left; i++) {
		take(&in, &step, sizeof(step));
		run_step(&st, &step);
	}
	return 0;
}
