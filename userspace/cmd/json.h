/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes one JSON value. A key of NULL is for elements of an array and for the
 * outermost value. Bytes that are not UTF-8 come out as U+FFFD.
 */
#ifndef MPDPA_CMD_JSON_H
#define MPDPA_CMD_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma;	/* the next value has one before it */
};

void json_begin(struct json *json, FILE *out);
void json_end(struct json *json);

void json_object(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_end(struct json *json);

/* A NULL value is written as null. */
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif /* MPDPA_CMD_JSON_H */
