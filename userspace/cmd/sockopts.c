// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "sockopts.h"
#include "system.h"

/* the kernel allows so many of a type at one cgroup and those above it */
#define PROGRAMS_MAX	64

/* The cgroup v2 of this process, opened; or -errno. */
static int open_own(void)
{
	char root[PATH_MAX], own[PATH_MAX], path[2 * PATH_MAX];
	int fd;

	if (!system_cgroup2(root, sizeof(root)) || !system_own_cgroup2(own, sizeof(own)))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s%s", root, own);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The kernel keeps the first 15 letters of a name. */
static bool is_named(__u32 id, const char *name)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd, err;

	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return false;
	err = bpf_prog_get_info_by_fd(fd, &info, &size);
	close(fd);
	return !err && !strncmp(info.name, name, sizeof(info.name) - 1);
}

static int is_served(int cgroup, enum bpf_attach_type type, const char *name)
{
	__u32 ids[PROGRAMS_MAX], i;
	LIBBPF_OPTS(bpf_prog_query_opts, query, .query_flags = BPF_F_QUERY_EFFECTIVE,
		    .prog_ids = ids, .prog_cnt = PROGRAMS_MAX);
	int err = bpf_prog_query_opts(cgroup, type, &query);

	if (err)
		return err;
	for (i = 0; i < query.prog_cnt; i++) {
		if (is_named(ids[i], name))
			return 1;
	}
	return 0;
}

int sockopts_serve(void)
{
	int cgroup = open_own(), served;

	if (cgroup < 0)
		return cgroup;
	served = is_served(cgroup, BPF_CGROUP_SETSOCKOPT, SETSOCKOPT_PROGRAM);
	if (served > 0)
		served = is_served(cgroup, BPF_CGROUP_GETSOCKOPT, GETSOCKOPT_PROGRAM);
	close(cgroup);
	return served;
}
