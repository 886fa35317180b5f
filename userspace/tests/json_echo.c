// SPDX-License-Identifier: GPL-2.0
/* Writes its words as a JSON object of every kind of value, for the tests. */
#include "json.h"

int main(int argc, char **argv)
{
	struct json json;
	int i;

	json_begin(&json, stdout);
	json_object(&json, NULL);
	json_array(&json, "words");
	for (i = 1; i < argc; i++)
		json_string(&json, NULL, argv[i]);
	json_array_end(&json);
	json_object(&json, argc > 1 ? argv[1] : "");
	json_object_end(&json);
	json_number(&json, "number", UINT64_MAX);
	json_bool(&json, "yes", true);
	json_bool(&json, "no", false);
	json_string(&json, "none", NULL);
	json_array(&json, "nested");
	json_array(&json, NULL);
	json_array_end(&json);
	json_object(&json, NULL);
	json_null(&json, "x");
	json_object_end(&json);
	json_array_end(&json);
	json_object_end(&json);
	json_end(&json);
	return 0;
}
