// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>

#include "json.h"

/* Length of the UTF-8 sequence at the start of a string, 0 if it is not one. */
static size_t utf8_length(const unsigned char *s)
{
	size_t length, i;

	if (s[0] < 0x80)
		return 1;
	else if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		length = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4;
	else
		return 0;
	for (i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong forms, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static size_t put_character(FILE *out, const unsigned char *s)
{
	size_t length = utf8_length(s);

	if (!length) {
		fputs("\\ufffd", out);
		return 1;
	}
	if (s[0] == '"' || s[0] == '\\')
		fprintf(out, "\\%c", s[0]);
	else if (s[0] < 0x20 || s[0] == 0x7f)
		fprintf(out, "\\u%04x", s[0]);
	else
		fwrite(s, 1, length, out);
	return length;
}

static void put_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s)
		s += put_character(out, s);
	putc('"', out);
}

/* What comes before every value. */
static void lead(struct json *json, const char *key)
{
	if (json->comma)
		putc(',', json->out);
	json->comma = true;
	if (key) {
		put_string(json->out, key);
		putc(':', json->out);
	}
}

static void open_group(struct json *json, const char *key, char bracket)
{
	lead(json, key);
	putc(bracket, json->out);
	json->comma = false;
}

static void close_group(struct json *json, char bracket)
{
	putc(bracket, json->out);
	json->comma = true;
}

void json_begin(struct json *json, FILE *out)
{
	json->out = out;
	json->comma = false;
}

void json_end(struct json *json)
{
	putc('\n', json->out);
}

void json_object(struct json *json, const char *key)
{
	open_group(json, key, '{');
}

void json_object_end(struct json *json)
{
	close_group(json, '}');
}

void json_array(struct json *json, const char *key)
{
	open_group(json, key, '[');
}

void json_array_end(struct json *json)
{
	close_group(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
	if (!value) {
		json_null(json, key);
		return;
	}
	lead(json, key);
	put_string(json->out, value);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	lead(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	lead(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	lead(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *key)
{
	lead(json, key);
	fputs("null", json->out);
}
