// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler's tracepoints are not exported to modules: look them up by name. */

#include <linux/string.h>
#include <linux/tracepoint.h>

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/**
 * compat_tracepoint() - find one of the kernel's tracepoints
 * @name: its name
 *
 * Return: the tracepoint, or NULL if the kernel has none of that name.
 */
struct tracepoint *compat_tracepoint(const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(compare, &search);
	return search.found;
}
