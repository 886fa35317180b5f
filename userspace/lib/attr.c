// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "attr.h"

#define ENDPOINT_ID_MAX	255
#define ADDR4_SIZE	4
#define ADDR6_SIZE	16

uint8_t attr_u8(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_U8) < 0 ? 0 : mnl_attr_get_u8(attr);
}

uint32_t attr_u32(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_U32) < 0 ? 0 : mnl_attr_get_u32(attr);
}

uint64_t attr_u64(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_U64) < 0 ? 0 : mnl_attr_get_u64(attr);
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
	while (count && !*bytes) {
		bytes++;
		count--;
	}
	return !count;
}

int path_check_name(const struct mpdpa_path *path)
{
	size_t used = path->family == AF_INET6 ? ADDR6_SIZE :
		      path->family == AF_INET ? ADDR4_SIZE : 0;

	if (!!path->endpoint_id + !!path->ifindex + !!path->family != 1)
		return -EINVAL;
	if (path->family && (!used || all_zero(path->addr, used)))
		return -EINVAL;
	if (!all_zero(path->addr + used, sizeof(path->addr) - used))
		return -EINVAL;
	if (path->endpoint_id > ENDPOINT_ID_MAX || path->ifindex > INT32_MAX)
		return -ERANGE;
	return 0;
}

void path_put_name(struct nlmsghdr *nlh, const struct path_attrs *attrs,
		   const struct mpdpa_path *path)
{
	if (path->endpoint_id)
		mnl_attr_put_u8(nlh, attrs->endpoint, path->endpoint_id);
	else if (path->ifindex)
		mnl_attr_put_u32(nlh, attrs->ifindex, path->ifindex);
	else if (path->family == AF_INET)
		mnl_attr_put(nlh, attrs->addr4, ADDR4_SIZE, path->addr);
	else
		mnl_attr_put(nlh, attrs->addr6, ADDR6_SIZE, path->addr);
}

static void take_address(struct mpdpa_path *path, uint32_t family, size_t size,
			 const struct nlattr *attr)
{
	if (mnl_attr_get_payload_len(attr) != size)
		return;
	path->family = family;
	memcpy(path->addr, mnl_attr_get_payload(attr), size);
}

void path_take(struct mpdpa_path *path, const struct path_attrs *attrs,
	       const struct nlattr *attr)
{
	uint16_t type = mnl_attr_get_type(attr);

	if (type == attrs->endpoint)
		path->endpoint_id = attr_u8(attr);
	else if (type == attrs->ifindex)
		path->ifindex = attr_u32(attr);
	else if (type == attrs->cost)
		path->cost = attr_u32(attr);
	else if (type == attrs->addr4)
		take_address(path, AF_INET, ADDR4_SIZE, attr);
	else if (type == attrs->addr6)
		take_address(path, AF_INET6, ADDR6_SIZE, attr);
}

void copy_out(void *to, size_t size, const void *from, size_t known)
{
	size_t count = size < known ? size : known;

	memcpy(to, from, count);
	memset((char *)to + count, 0, size - count);
}

bool copy_in(void *to, size_t known, const void *from, size_t size)
{
	size_t count = size < known ? size : known;

	memcpy(to, from, count);
	memset((char *)to + count, 0, known - count);
	return all_zero((const uint8_t *)from + count, size - count);
}
