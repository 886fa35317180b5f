// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of the module's structures, read from the assembly that this becomes. */
#include "conn.h"

#define SIZE(type)	asm volatile("\n.ascii \"->" #type " %0\"" : : "i" (sizeof(type)))

void sizes(void);
void sizes(void)
{
	SIZE(struct conn);
	SIZE(struct chunk);
	SIZE(struct dpa_state);
}
