// SPDX-License-Identifier: GPL-2.0
/* What names an interface: its name, or the number of one that is gone. */
#include <string.h>

#include "pathname.h"
#include "tap.h"

static bool resolves(const char *dev, uint32_t ifindex)
{
	const struct path_words words = { .dev = dev, .cost = 3 };
	struct mpdpa_path path;

	if (!pathname_resolve(&words, &path))
		return !ifindex;
	return path.ifindex == ifindex && path.cost == 3;
}

int main(void)
{
	static const char *const none[] = {
		"if", "if0", "if-5", "if+5", "if 5", "if5x", "if5 ", "if0x5", "if2147483648",
		"if4294967299", "if99999999999", "IF5", "gone5",
	};
	char live[IF_NAMESIZE + 2];
	size_t i;

	ok(resolves("lo", if_nametoindex("lo")), "by its name");
	snprintf(live, sizeof(live), "if%u", if_nametoindex("lo"));
	ok(resolves(live, 0), "%s is there and has a name", live);
	ok(resolves("if2147483647", INT32_MAX), "the highest number");
	ok(resolves("if987654321", 987654321), "one that is gone");
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(resolves(none[i], 0), "\"%s\" is none", none[i]);
	return tap_end();
}
