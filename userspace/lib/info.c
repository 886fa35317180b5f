// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Reading what the scheduler knows of a connection. */
#include <errno.h>
#include <string.h>

#include "mpdpa.h"
#include "socket.h"

/* What the kernel can hand out in one getsockopt() served by BPF programs. */
#define INFO_SIZE_MAX	4096

/* What says how the rest is laid out. */
#define INFO_SIZE_MIN	offsetof(struct mptcp_dpa_info, flags)

int mpdpa_info_get(int fd, struct mptcp_dpa_info *info, size_t size)
{
	socklen_t length = size < INFO_SIZE_MAX ? size : INFO_SIZE_MAX;

	memset(info, 0, size);
	if (getsockopt(fd, SOL_MPTCP, MPTCP_DPA_INFO, info, &length))
		return -errno;
	return 0;
}

int mpdpa_info_path(const struct mptcp_dpa_info *info, size_t size, unsigned int index,
		    struct mptcp_dpa_path_info *path, size_t path_size)
{
	size_t head, row, known;

	if (size < INFO_SIZE_MIN)
		return -ENOENT;
	head = info->header_size;
	row = info->path_size;
	if (!row || head < INFO_SIZE_MIN || head > size)
		return -ENOENT;
	if (index >= info->paths || index >= (size - head) / row)
		return -ENOENT;
	known = row < path_size ? row : path_size;
	memset(path, 0, path_size);
	memcpy(path, (const char *)info + head + index * row, known);
	return 0;
}
