// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include <linux/mptcp_dpa_sock.h>

#include "netns.h"
#include "sysctl.h"

/* one setting of a namespace: its place in struct netns_dpa, range, default */
struct setting {
	const char	*name;
	size_t		offset;
	unsigned int	least;
	unsigned int	most;
	unsigned int	preset;
};

#define SETTING(field, _least, _most, _preset) {			\
	.name = #field, .offset = offsetof(struct netns_dpa, field),	\
	.least = (_least), .most = (_most), .preset = (_preset),	\
}

static const struct setting settings[] = {
	SETTING(alpha_milli, 0, MPTCP_DPA_ALPHA_MAX, 0),
	SETTING(policy, MPTCP_DPA_POLICY_DEFICIT, MPTCP_DPA_POLICY_THRESHOLD,
		MPTCP_DPA_POLICY_DEFICIT),
	SETTING(interval_us, 1000, 1000000, 25000),
	SETTING(hysteresis_us, 0, 10000000, 100000),
	SETTING(late_policy, MPTCP_DPA_LATE_POLICY_SPEND,
		MPTCP_DPA_LATE_POLICY_TELL, MPTCP_DPA_LATE_POLICY_SPEND),
	SETTING(chunks_max, 1, MPTCP_DPA_CHUNKS_MAX, MPTCP_DPA_CHUNKS_MAX),
	SETTING(signal_peer, 0, 1, 1),
	SETTING(overflow_ms, 0, MPTCP_DPA_OVERFLOW_MAX, 0),
};

/* 0 adapts; what lies between that and the least alpha means nothing. */
static int do_alpha(const struct ctl_table *table, int write, void *buffer,
		    size_t *len, loff_t *pos)
{
	struct ctl_table copy = *table;
	unsigned int alpha = READ_ONCE(*(unsigned int *)table->data);
	int err;

	copy.data = &alpha;
	err = proc_douintvec_minmax(&copy, write, buffer, len, pos);
	if (err || !write)
		return err;
	if (alpha && alpha < MPTCP_DPA_ALPHA_MIN)
		return -EINVAL;
	WRITE_ONCE(*(unsigned int *)table->data, alpha);
	return 0;
}

static void fill_entry(struct ctl_table *entry, const struct setting *setting,
		       struct netns_dpa *dpa)
{
	unsigned int *value = (void *)dpa + setting->offset;

	*value = setting->preset;
	*entry = (struct ctl_table){
		.procname	= setting->name,
		.data		= value,
		.maxlen		= sizeof(*value),
		.mode		= 0644,
		.proc_handler	= setting->offset ==
				  offsetof(struct netns_dpa, alpha_milli) ?
				  do_alpha : proc_douintvec_minmax,
		.extra1		= (void *)&setting->least,
		.extra2		= (void *)&setting->most,
	};
}

int sysctl_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct ctl_table *table;
	int i;

	table = kcalloc(ARRAY_SIZE(settings), sizeof(*table),
			GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		fill_entry(&table[i], &settings[i], dpa);

	dpa->sysctl = register_net_sysctl_sz(net, "net/mptcp_dpa", table,
					     ARRAY_SIZE(settings));
	if (!dpa->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

void sysctl_exit_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	const struct ctl_table *table = dpa->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(dpa->sysctl);
	kfree(table);
}
