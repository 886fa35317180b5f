/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the running system, by /proc and /sys. */
#ifndef MPDPA_CMD_SYSTEM_H
#define MPDPA_CMD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#define MODULE_NAME	"mptcp_dpa"
#define SCHED_NAME	"mpdpa"
#define BPFFS_DIR	"/sys/fs/bpf"

/* sysctls, below /proc/sys/net; they are those of the caller's namespace */
#define SYSCTL_ENABLED		"mptcp/enabled"
#define SYSCTL_SCHEDULER	"mptcp/scheduler"
#define SYSCTL_AVAILABLE	"mptcp/available_schedulers"
#define SYSCTL_PATH_MANAGER	"mptcp/path_manager"
#define SYSCTL_PM_TYPE		"mptcp/pm_type"
#define SYSCTL_ALPHA		"mptcp_dpa/alpha_milli"
#define SYSCTL_POLICY		"mptcp_dpa/policy"
#define SYSCTL_BPF_JIT		"core/bpf_jit_enable"

/* Reads a file's first bytes as text, white space at the end cut. 0 or -errno. */
int system_read(const char *path, char *text, size_t size);
int system_sysctl(const char *name, char *text, size_t size);

/* One of the namespace's MPTcpExt counters: 0, or -ENOENT if there is none. */
int system_mptcp_counter(const char *name, unsigned long long *value);

/* Whether text, words separated by blanks, holds the word. */
bool system_has_word(const char *text, const char *word);

bool system_module_loaded(void);

/* 0, or -1 with errno set. */
int system_enter_netns(const char *name);

/* Where cgroup v2 is mounted. */
bool system_cgroup2(char *path, size_t size);

/* This process's place below that, as "/..."; of what the kernel tells it. */
bool system_own_cgroup2(char *path, size_t size);

bool system_is_bpffs(const char *path);

/* Whether this process has CAP_SYS_ADMIN, which reading BPF links takes. */
bool system_privileged(void);

#endif /* MPDPA_CMD_SYSTEM_H */
