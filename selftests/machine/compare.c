// SPDX-License-Identifier: GPL-2.0-only
/* Compares what was stored before there was C. */
#include "machine.h"

static const u8 *const areas = (void *)LOW_AREAS;

static bool check_part(const struct test_case *part, const void *area)
{
	const void *buffer = (void *)ds_get(area, DS_BASE);
	u64 count = (ds_get(area, DS_INDEX) - ds_get(area, DS_BASE)) / record_size();
	u64 expected = part->last - part->first;
	bool ok = true;

	for (u64 i = 0; ok && i < expected; i++) {
		struct branch record = ds_record(buffer, i);
		const struct branch *branch = part->first + i;

		ok = i < count && record.from == branch->from && record.to == branch->to &&
		     !record.cpl;
		if (!ok)
			print("# record %lu of %lu: not %#lx -> %#lx but %#lx -> %#lx (%#lx)\n", i,
			      count, branch->from, branch->to, record.from, record.to, record.cpl);
	}
	if (count > expected)
		print("# %lu records, and %lu expected\n", count, expected);
	return ok && count == expected;
}

void run_tests(void)
{
	for (const struct test_case *part = cases_start; part < cases_end; part++)
		report(check_part(part, areas + 64 * (part - cases_start)), "%s", part->what);
}
