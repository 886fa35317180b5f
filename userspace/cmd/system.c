// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/magic.h>

#include "system.h"

int system_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	while (n > 0 && strchr(" \t\n", text[n - 1]))
		n--;
	text[n] = '\0';
	return 0;
}

int system_sysctl(const char *name, char *text, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	return system_read(path, text, size);
}

/* Two lines, one of names and one of values, word by word. */
static int pick_counter(char *names, char *values, const char *name, unsigned long long *value)
{
	char *at_name, *at_value;

	for (;;) {
		const char *word = strtok_r(names, " \n", &at_name);
		const char *number = strtok_r(values, " \n", &at_value);

		if (!word || !number)
			return -ENOENT;
		if (!strcmp(word, name)) {
			*value = strtoull(number, NULL, 10);
			return 0;
		}
		names = values = NULL;
	}
}

int system_mptcp_counter(const char *name, unsigned long long *value)
{
	static const char title[] = "MPTcpExt:";
	FILE *file = fopen("/proc/thread-self/net/netstat", "re");
	char *names = NULL, *values = NULL;
	size_t names_size = 0, values_size = 0;
	int err = -ENOENT;

	if (!file)
		return -ENOENT;
	while (err && getline(&names, &names_size, file) > 0 &&
	       getline(&values, &values_size, file) > 0)
		if (!strncmp(names, title, strlen(title)))
			err = pick_counter(names, values, name, value);
	free(names);
	free(values);
	fclose(file);
	return err;
}

bool system_has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	while (*text) {
		size_t n = strcspn(text, " \t\n");

		if (n == length && !memcmp(text, word, n))
			return true;
		text += n;
		text += strspn(text, " \t\n");
	}
	return false;
}

bool system_module_loaded(void)
{
	return !access("/sys/module/" MODULE_NAME, F_OK);
}

int system_enter_netns(const char *name)
{
	char path[PATH_MAX];
	int fd, err;

	if (!name[0] || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..")) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	err = setns(fd, CLONE_NEWNET);
	close(fd);
	return err;
}

bool system_cgroup2(char *path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *entry;
	bool found = false;

	if (mounts) {
		while (!found && (entry = getmntent(mounts))) {
			found = !strcmp(entry->mnt_type, "cgroup2");
			if (found)
				snprintf(path, size, "%s", entry->mnt_dir);
		}
		endmntent(mounts);
	}
	return found;
}

bool system_own_cgroup2(char *path, size_t size)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		found = !strncmp(line, "0::", 3);
		if (found)
			snprintf(path, size, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

bool system_is_bpffs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == BPF_FS_MAGIC;
}

bool system_privileged(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
}
