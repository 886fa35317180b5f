/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays that grow while a dump comes in. */
#ifndef MPDPA_CMD_GROW_H
#define MPDPA_CMD_GROW_H

#include <stdlib.h>

#define GROW_FIRST	64

/*
 * The array with room for one more than "count" of "size" bytes; NULL without
 * memory: it is where it was, and as it was.
 */
static inline void *grow(void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : GROW_FIRST;

	if (count < *room)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*room = more;
	return array;
}

#endif /* MPDPA_CMD_GROW_H */
