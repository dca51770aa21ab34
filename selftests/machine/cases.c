// SPDX-License-Identifier: GPL-2.0-only
/* Runs the cases of an image with each filter. */
#include "machine.h"

#define RECORDS 64

#define ECX_DS_CPL (1U << 4)

struct filter {
	u64 debugctl;
	bool wants_ds_cpl;
	bool kernel; /* branches after which the CPL is 0 */
	bool user; /* ... or 3 */
	const char *what;
};

static const struct filter filters[] = {
	{ DEBUGCTL_ON, false, true, true, "all" },
	{ DEBUGCTL_ON | DEBUGCTL_OFF_OS, true, false, true, "BTS_OFF_OS" },
	{ DEBUGCTL_ON | DEBUGCTL_OFF_USR, true, true, false, "BTS_OFF_USR" },
	{ DEBUGCTL_ON | DEBUGCTL_OFF_OS | DEBUGCTL_OFF_USR, true, false, false, "both filters" },
	{ DEBUGCTL_TR, false, false, false, "TR alone" },
	{ DEBUGCTL_BTS, false, false, false, "BTS alone" },
};

static u64 area[16] __attribute__((aligned(64)));
static u64 buffer[3 * (RECORDS + 1)] __attribute__((aligned(64)));

static bool passes(const struct filter *filter, const struct branch *branch)
{
	return branch->cpl ? filter->user : filter->kernel;
}

static u64 recorded(void)
{
	return (ds_get(area, DS_INDEX) - ds_get(area, DS_BASE)) / record_size();
}

/* Is BRANCH, if it passes, the next record? */
static bool check(const struct filter *filter, const struct branch *branch, u64 *next)
{
	struct branch record = ds_record(buffer, *next);

	if (!passes(filter, branch))
		return true;
	if (*next < recorded() && record.from == branch->from && record.to == branch->to &&
	    !record.cpl) {
		*next += 1;
		return true;
	}
	print("# %s: record %lu of %lu: not %#lx -> %#lx but %#lx -> %#lx (%#lx)\n", filter->what,
	      *next, recorded(), branch->from, branch->to, record.from, record.to, record.cpl);
	return false;
}

static bool run_case(const struct test_case *test, const struct filter *filter)
{
	struct branch enter = { (uintptr_t)traced_call, test->entry, 0 };
	struct branch leave = { test->end, (uintptr_t)traced_back, 0 };
	u64 next = 0;

	ds_prepare(area, buffer, RECORDS, 1);
	run_traced(test->entry, filter->debugctl);

	bool ok = check(filter, &enter, &next);

	for (const struct branch *branch = test->first; ok && branch < test->last; branch++)
		ok = check(filter, branch, &next);
	ok = ok && check(filter, &leave, &next);
	if (ok && next != recorded()) {
		print("# %s: %lu records more than the %lu expected\n", filter->what,
		      recorded() - next, next);
		ok = false;
	}
	/* Beyond the last one nothing may have been touched. */
	return ok && ds_record(buffer, next).from ==
			     (u64)0x5a5a5a5a5a5a5a5a >> (64 - record_size() / 3 * 8);
}

static void run_filter(const struct filter *filter)
{
	u64 wrong = 0;

	for (const struct test_case *test = cases_start; test < cases_end; test++) {
		if (run_case(test, filter))
			continue;
		print("# %s: %s\n", filter->what, test->what);
		wrong++;
	}
	report(!wrong, "%s: what passes, in %lu cases", filter->what,
	       (u64)(cases_end - cases_start));
}

void run_tests(void)
{
	u32 ecx, edx;

	cpuid(1, &ecx, &edx);
	map_page(WINDOW, WINDOW, 3);
	map_page(UNMAPPED - 4096, UNMAPPED - 4096, 3);
	for (const struct test_case *test = cases_start; test < cases_end; test++)
		report(run_case(test, &filters[0]), "%s", test->what);
	for (const struct filter *filter = filters + 1; filter < filters + ARRAY_SIZE(filters);
	     filter++) {
		if (!filter->wants_ds_cpl || ecx & ECX_DS_CPL)
			run_filter(filter);
	}
}
