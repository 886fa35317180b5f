// SPDX-License-Identifier: GPL-2.0-only
/* No scheduler at all. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";
int nothing;
