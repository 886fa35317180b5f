// SPDX-License-Identifier: GPL-2.0
/* What the doctor looks at in the kernel and below /sys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "findings.h"
#include "mpdpa.h"
#include "pins.h"
#include "sockopts.h"
#include "system.h"

static bool in_file(const char *path, const char *needle)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = strstr(line, needle);
	free(line);
	fclose(file);
	return found;
}

void check_kernel(struct findings *findings)
{
	struct utsname name;
	char value[16];

	uname(&name);
	if (system_sysctl(SYSCTL_ENABLED, value, sizeof(value))) {
		finding(findings, VERDICT_FAIL, "kernel",
			"apt install linux-image-amd64 && reboot",
			"kernel %s has no Multipath TCP (CONFIG_MPTCP)", name.release);
		return;
	}
	finding(findings, VERDICT_OK, "kernel", NULL, "kernel %s has Multipath TCP",
		name.release);
	if (!strcmp(value, "0"))
		finding(findings, VERDICT_FAIL, "enabled", "sysctl -w net.mptcp.enabled=1",
			"Multipath TCP is switched off in this network namespace");
	else
		finding(findings, VERDICT_OK, "enabled", NULL,
			"Multipath TCP is switched on in this network namespace");
}

static void check_jit(struct findings *findings)
{
	char value[16];

	/* Readable by root only; absent where the JIT cannot be switched off. */
	if (!system_sysctl(SYSCTL_BPF_JIT, value, sizeof(value)) && !strcmp(value, "0"))
		finding(findings, VERDICT_FAIL, "jit", "sysctl -w net.core.bpf_jit_enable=1",
			"the BPF compiler, which schedulers need, is switched off");
	else
		finding(findings, VERDICT_OK, "jit", NULL, "the BPF compiler is not switched off");
}

/*
 * In a container, and behind "ip netns exec", what is attached works but may be
 * out of sight: to mount and to load there would be wrong.
 */
static bool works_unseen(void)
{
	return mpdpa_probe(-1) == MPDPA_READY;
}

static void check_mounts(struct findings *findings)
{
	char path[PATH_MAX];

	if (system_is_bpffs(BPFFS_DIR))
		finding(findings, VERDICT_OK, "bpffs", NULL, "BPF file system at " BPFFS_DIR);
	else if (works_unseen())
		finding(findings, VERDICT_NOTE, "bpffs", NULL,
			"no BPF file system at " BPFFS_DIR " here: what is attached is seen elsewhere");
	else
		finding(findings, VERDICT_FAIL, "bpffs", "mount -t bpf bpf " BPFFS_DIR,
			"no BPF file system at " BPFFS_DIR);
	if (system_cgroup2(path, sizeof(path)))
		finding(findings, VERDICT_OK, "cgroup", NULL, "cgroup v2 at %s", path);
	else if (works_unseen())
		finding(findings, VERDICT_NOTE, "cgroup", NULL,
			"cgroup v2, where the socket options attach, is not mounted here");
	else
		finding(findings, VERDICT_FAIL, "cgroup",
			"mount -t cgroup2 cgroup2 /sys/fs/cgroup",
			"cgroup v2, where the socket options attach, is not mounted");
}

void check_bpf(struct findings *findings)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		finding(findings, VERDICT_FAIL, "btf", "apt install linux-image-amd64 && reboot",
			"the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	else
		finding(findings, VERDICT_OK, "btf", NULL,
			"the kernel describes its types to BPF programs");
	check_jit(findings);
	check_mounts(findings);
}

static void check_lockdown(struct findings *findings)
{
	char value[64];

	if (!system_read("/sys/kernel/security/lockdown", value, sizeof(value)) &&
	    !strstr(value, "[none]"))
		finding(findings, VERDICT_NOTE, "lockdown", "mokutil --sb-state",
			"the kernel is locked down: it takes the module only if it is signed");
}

/* Whether modprobe would find it, as far as can be told. */
static bool is_installed(const struct utsname *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", name->release);
	if (access(path, R_OK))
		return errno != ENOENT;
	return in_file(path, "/" MODULE_NAME ".ko");
}

#define MEND_LOAD	"modprobe " MODULE_NAME
#define MEND_INSTALL	"make -C SOURCE install && " MEND_LOAD
#define MEND_VERSION	"mpdpa unload && rmmod " MODULE_NAME " && " MEND_LOAD " && mpdpa load"

const char *module_mend(void)
{
	struct utsname name;

	uname(&name);
	return is_installed(&name) ? MEND_LOAD : MEND_INSTALL;
}

static void check_loaded(struct findings *findings)
{
	struct utsname name;

	uname(&name);
	if (is_installed(&name))
		finding(findings, VERDICT_FAIL, "module", MEND_LOAD,
			"kernel module " MODULE_NAME " is not loaded");
	else
		finding(findings, VERDICT_FAIL, "module", MEND_INSTALL,
			"kernel module " MODULE_NAME " is not loaded, nor is it installed for kernel %s: build it anew",
			name.release);
}

void check_module(struct findings *findings)
{
	char version[64] = "";

	if (!system_module_loaded()) {
		check_loaded(findings);
		check_lockdown(findings);
		return;
	}
	system_read("/sys/module/" MODULE_NAME "/version", version, sizeof(version));
	if (strcmp(version, MPDPA_VERSION))
		finding(findings, VERDICT_NOTE, "module", MEND_VERSION,
			"kernel module " MODULE_NAME " %s is loaded, and this is mpdpa " MPDPA_VERSION
			": deadlines may be ignored", version);
	else
		finding(findings, VERDICT_OK, "module", NULL,
			"kernel module " MODULE_NAME " %s is loaded", version);
	if (access("/sys/kernel/btf/" MODULE_NAME, F_OK))
		finding(findings, VERDICT_FAIL, "module-btf", "apt install pahole",
			"the module was built without type information, build it anew with pahole");
}

/* Whether the words hold one that begins like this. */
static bool has_prefix(const char *text, const char *prefix)
{
	while (*text) {
		if (!strncmp(text, prefix, strlen(prefix)))
			return true;
		text += strcspn(text, " \t\n");
		text += strspn(text, " \t\n");
	}
	return false;
}

static void check_sockopt(struct findings *findings)
{
	static struct pins pins;
	int err = pins_read(&pins), served = sockopts_serve();
	bool loaded = !err && pins_have_sockopt(&pins);

	if (err == -EACCES)
		finding(findings, VERDICT_NOTE, "sockopt", NULL,
			"only root can see whether the socket options are attached");
	else if (err)
		finding(findings, VERDICT_FAIL, "sockopt", err == -ENOTDIR ? "rm " PINS_DIR : NULL,
			"cannot read " PINS_DIR ": %s", pins_error_text(err));
	else if (loaded && !served)
		finding(findings, VERDICT_NOTE, "sockopt", NULL,
			"the socket options are attached, but not to the cgroup of this process");
	else if (loaded || served > 0)
		finding(findings, VERDICT_OK, "sockopt", NULL, "the socket options are attached%s",
			loaded ? "" : ", but not by \"mpdpa load\"");
	else if (works_unseen())
		finding(findings, VERDICT_OK, "sockopt", NULL,
			"the socket options are attached, to what cannot be seen from here");
	else
		finding(findings, VERDICT_FAIL, "sockopt", "mpdpa load",
			"the socket options are not attached");
}

void check_attached(struct findings *findings)
{
	char available[1024];

	if (system_sysctl(SYSCTL_AVAILABLE, available, sizeof(available)))
		available[0] = '\0';
	if (has_prefix(available, SCHED_NAME))
		finding(findings, VERDICT_OK, "attached", NULL, "schedulers attached: %s",
			available);
	else
		finding(findings, VERDICT_FAIL, "attached", "mpdpa load",
			"scheduler " SCHED_NAME " is not attached");
	check_sockopt(findings);
}
