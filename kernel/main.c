// SPDX-License-Identifier: GPL-2.0-only
/* mptcp_dpa: BPF schedulers with deadlines and prices for Multipath TCP. */
#include "pr_fmt.h"

#include <linux/module.h>

#include "conn.h"
#include "layout.h"
#include "netlink.h"
#include "netns.h"
#include "struct_ops.h"
#include "symbols.h"
#include "tick.h"

static int __init dpa_init(void)
{
	int err;

	err = symbols_init();
	if (err)
		return err;
	err = layout_init();
	if (err)
		return err;
	err = conn_init();
	if (err)
		return err;
	err = tick_init();
	if (err)
		goto err_tick;
	err = netns_init();
	if (err)
		goto err_netns;
	err = netlink_init();
	if (err)
		goto err_netlink;
	/* last: from here on programs may come */
	err = struct_ops_init();
	if (err)
		goto err_struct_ops;
	return 0;

err_struct_ops:
	netlink_exit();
err_netlink:
	netns_exit();
err_netns:
	tick_exit();
err_tick:
	conn_exit();
	return err;
}

static void __exit dpa_exit(void)
{
	netlink_exit();
	netns_exit();
	tick_exit();
	conn_exit();
}

module_init(dpa_init);
module_exit(dpa_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Deadline- and price-aware BPF schedulers for Multipath TCP");
MODULE_VERSION(DPA_VERSION);
