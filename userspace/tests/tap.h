/* SPDX-License-Identifier: GPL-2.0 */
/* The few lines that a TAP test needs. One per program. */
#ifndef MPDPA_TESTS_TAP_H
#define MPDPA_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_count, tap_failed;

__attribute__((format(printf, 2, 3)))
static inline bool ok(bool good, const char *format, ...)
{
	va_list list;

	printf("%s %u - ", good ? "ok" : "not ok", ++tap_count);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	tap_failed += !good;
	return good;
}

__attribute__((format(printf, 1, 2)))
static inline void skip(const char *format, ...)
{
	va_list list;

	printf("ok %u # SKIP ", ++tap_count);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
}

/* The value to leave main() with. */
static inline int tap_end(void)
{
	printf("1..%u\n", tap_count);
	return tap_failed != 0;
}

#endif /* MPDPA_TESTS_TAP_H */
