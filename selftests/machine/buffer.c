// SPDX-License-Identifier: GPL-2.0-only
/* Where in memory records go. */
#include "machine.h"

const char image[] = "buffer";

#define ROOM	     64
#define PTE_PRESENT  0x01
#define PTE_WRITABLE 0x02
#define PTE_ACCESSED 0x20
#define PTE_DIRTY    0x40
#define PTE_USABLE   (PTE_PRESENT | PTE_WRITABLE)

static u8 areas[2][4096] __attribute__((aligned(4096)));
static u8 pages[4][4096] __attribute__((aligned(4096)));

static u64 index_of(const void *area)
{
	return (ds_get(area, DS_INDEX) - ds_get(area, DS_BASE)) / record_size();
}

/* Is jump I of jumps_traced() the record in SLOT? */
static bool is_jump(const void *buffer, u64 slot, u64 i)
{
	struct branch record = ds_record(buffer, slot);
	u64 from = (uintptr_t)traced_jumps + 2 * i;

	if (record.from == from && record.to == from + 2 && !record.cpl)
		return true;
	print("# slot %lu: expected jump %lu, %#lx, is %#lx -> %#lx\n", slot, i, from, record.from,
	      record.to);
	return false;
}

static bool untouched(const void *buffer, u64 slot)
{
	const u8 *byte = (const u8 *)buffer + slot * record_size();

	for (u64 i = 0; i < record_size(); i++) {
		if (byte[i] != 0x5a)
			return false;
	}
	return true;
}

/* Of all jumps, the last one that belongs there must be in each slot of N. */
static bool wraps(u64 n, u64 slack)
{
	void *buffer = pages[0];
	bool ok = true;

	ds_prepare(areas[0], buffer, n, slack);
	jumps_traced(DEBUGCTL_ON);
	for (u64 slot = 0; slot < n && slot < JUMPS; slot++)
		ok &= is_jump(buffer, slot, (JUMPS - 1 - slot) / n * n + slot);
	for (u64 slot = JUMPS; slot <= n; slot++)
		ok &= untouched(buffer, slot);
	return ok && untouched(buffer, n) && index_of(areas[0]) == JUMPS % n;
}

static void test_wrap(void)
{
	static const u64 sizes[] = { 1, 2, 7, JUMPS - 1, JUMPS, JUMPS + 1, ROOM };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		report(wraps(sizes[i], 1), "%lu records, the maximum one more than the end",
		       sizes[i]);
		report(wraps(sizes[i], 0), "%lu records, the maximum is the end", sizes[i]);
		report(wraps(sizes[i], record_size() - 1),
		       "%lu records, and all but one record more", sizes[i]);
	}
}

static void test_next_instruction(void)
{
	ds_prepare(areas[0], pages[0], ROOM, 1);
	jumps_traced(DEBUGCTL_ON);
	report(is_jump(pages[0], 0, 0), "the instruction after the one that turns it on is traced");
	report(index_of(areas[0]) == JUMPS,
	       "the instruction after the one that turns it off is not");
}

static void test_off_and_on(void)
{
	bool ok = true;

	ds_prepare(areas[0], pages[0], JUMPS + 10, 1);
	jumps_traced(DEBUGCTL_ON);
	jumps_traced(0);
	ok &= index_of(areas[0]) == JUMPS;
	jumps_traced(DEBUGCTL_ON);
	for (u64 i = 0; i < JUMPS; i++)
		ok &= is_jump(pages[0], (JUMPS + i) % (JUMPS + 10), i);
	report(ok && index_of(areas[0]) == JUMPS - 10, "off and on: it goes on at the index");

	ds_set(areas[0], DS_INDEX, ds_get(areas[0], DS_BASE));
	jumps_traced(DEBUGCTL_ON);
	report(index_of(areas[0]) == JUMPS && is_jump(pages[0], 0, 0),
	       "off and on: at an index that was set");

	ds_prepare(areas[0], pages[0], ROOM, 1);
	ds_set(areas[0], DS_INDEX, ds_get(areas[0], DS_BASE) + ROOM * record_size());
	jumps_traced(DEBUGCTL_ON);
	report(index_of(areas[0]) == JUMPS && is_jump(pages[0], 0, 0),
	       "an index at the end: it goes to the base");
}

static void test_other_area(void)
{
	ds_prepare(areas[1], pages[2], ROOM, 1);
	ds_prepare(areas[0], pages[0], ROOM, 1);
	jumps_traced(DEBUGCTL_ON);
	report(untouched(pages[2], 0), "two areas: the other one is left alone");
	write_msr(MSR_DS_AREA, (uintptr_t)areas[1]);
	jumps_traced(DEBUGCTL_ON);
	report(index_of(areas[1]) == JUMPS && is_jump(pages[2], JUMPS - 1, JUMPS - 1),
	       "two areas: changed while off");
	report(index_of(areas[0]) == JUMPS, "two areas: the old one is as it was");
	ds_set(areas[1], DS_BASE, (uintptr_t)pages[0]);
	ds_set(areas[1], DS_INDEX, (uintptr_t)pages[0]);
	ds_set(areas[1], DS_MAXIMUM, (uintptr_t)pages[0] + ROOM * record_size() + 1);
	jumps_traced(0);
	jumps_traced(DEBUGCTL_ON);
	report(index_of(areas[1]) == JUMPS, "another buffer in the same area");
}

/* With BTINT nothing is overwritten: the index stays at the end until software moves it. */
static void test_full(u64 slack)
{
	bool ok = true;

	ds_prepare(areas[0], pages[0], 7, slack);
	jumps_traced(DEBUGCTL_ON | DEBUGCTL_BTINT);
	for (u64 slot = 0; slot < 7; slot++)
		ok &= is_jump(pages[0], slot, slot);
	report(ok && untouched(pages[0], 7), "BTINT, %lu: the oldest stay", slack);
	report(index_of(areas[0]) == 7, "BTINT, %lu: the index stays at the end", slack);
	ds_set(areas[0], DS_INDEX, ds_get(areas[0], DS_BASE) + 5 * record_size());
	jumps_traced(DEBUGCTL_ON | DEBUGCTL_BTINT);
	ok = is_jump(pages[0], 4, 4) && is_jump(pages[0], 5, 0) && is_jump(pages[0], 6, 1);
	report(ok && index_of(areas[0]) == 7, "BTINT, %lu: an index moved: it goes on there",
	       slack);
}

static bool has_flags(u64 address, u64 flags)
{
	return (window_pages[(address - WINDOW) / 4096] & flags) == flags;
}

static void map_window(u64 seam)
{
	map_page(seam - 4096, (uintptr_t)pages[3], PTE_USABLE);
	map_page(seam, (uintptr_t)pages[1], PTE_USABLE);
	map_page(seam + 4096, (uintptr_t)pages[0], PTE_USABLE);
}

/* Neighbours by linear address only; the seams are within the area, and within a record. */
static void test_pages(void)
{
	u64 seam = WINDOW + 4096;
	u8 *area = (u8 *)seam - 12;
	u8 *buffer = (u8 *)seam + 4096 - 10 - 5 * record_size();

	map_window(seam);
	ds_prepare(area, buffer, JUMPS, 1);
	map_window(seam);
	jumps_traced(DEBUGCTL_ON);

	report(has_flags(seam + 4096, PTE_ACCESSED | PTE_DIRTY),
	       "the buffer's page becomes accessed and dirty");
	report(has_flags(WINDOW, PTE_ACCESSED | PTE_DIRTY),
	       "the area's page becomes accessed and dirty");
	bool ok = index_of(area) == 0;

	for (u64 i = 0; i < JUMPS; i++)
		ok &= is_jump(buffer, i, i);
	report(ok, "a record on two pages, and an area on two pages");

	ds_prepare(area, buffer, JUMPS, 1);
	for (u64 i = 0; i < 4096; i++)
		pages[2][i] = pages[0][i];
	map_page(seam + 4096, (uintptr_t)pages[2], PTE_USABLE);
	jumps_traced(DEBUGCTL_ON);
	report(is_jump(buffer, JUMPS - 1, JUMPS - 1),
	       "a page mapped elsewhere: where the linear address is now");
	ok = true;
	for (u64 i = 0; i < (JUMPS - 6) * record_size(); i++)
		ok &= pages[0][i] == 0x5a;
	report(ok, "a page mapped elsewhere: not where it was");
}

void run_tests(void)
{
	test_wrap();
	test_next_instruction();
	test_off_and_on();
	test_full(0);
	test_full(1);
	test_other_area();
	test_pages();
}
