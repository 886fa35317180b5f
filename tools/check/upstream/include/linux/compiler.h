/* SPDX-License-Identifier: GPL-2.0-only */
/* In place of tools/include, of which the tests need no more than this. */
#ifndef __noreturn
#define __noreturn	__attribute__((noreturn))
#endif
