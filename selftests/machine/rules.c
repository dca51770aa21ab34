// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breaks the rule that it is given as a word; the machine must stop before another
 * instruction runs. With the word "lenient", on a machine that goes on: breaks all, and
 * looks what came of it.
 */
#include "machine.h"

const char image[] = "rules";

#define RECORDS	  64
#define PRESENT	  1
#define WRITABLE  3
#define APIC_PAGE ((u64)APIC)
#define NO_RAM	  0x80000000
#define ROM	  0xf0000

static u8 area[4096] __attribute__((aligned(4096)));
static u8 buffer[4096] __attribute__((aligned(4096)));

static void set_buffer(u64 base)
{
	ds_set(area, DS_BASE, base);
	ds_set(area, DS_INDEX, base);
	ds_set(area, DS_MAXIMUM, base + RECORDS * record_size() + 1);
}

static void set_area(u64 address)
{
	write_msr(MSR_DS_AREA, address);
}

static void move_index(u64 by)
{
	ds_set(area, DS_INDEX, ds_get(area, DS_BASE) + by);
}

static void set_maximum(u64 size)
{
	ds_set(area, DS_MAXIMUM, ds_get(area, DS_BASE) + size);
}

static void area_unmapped(void)
{
	set_area(UNMAPPED);
}

static void area_high(void)
{
	set_area(0xffff800000000000);
}

static void area_read_only(void)
{
	map_page(WINDOW, (uintptr_t)area, PRESENT);
	set_area(WINDOW);
}

static void area_half(void)
{
	set_area(UNMAPPED - 8);
}

static void area_device(void)
{
	set_area(APIC_PAGE);
}

static void area_no_ram(void)
{
	set_area(NO_RAM);
}

static void store_unmapped(void)
{
	set_buffer(UNMAPPED);
}

static void store_read_only(void)
{
	map_page(WINDOW, (uintptr_t)buffer, PRESENT);
	set_buffer(WINDOW);
}

static void store_half(void)
{
	set_buffer(UNMAPPED - record_size() / 2);
}

static void store_device(void)
{
	set_buffer(APIC_PAGE);
}

static void store_rom(void)
{
	set_buffer(ROM);
}

static void small_by_one(void)
{
	set_maximum(record_size() - 1);
}

static void small_empty(void)
{
	set_maximum(0);
}

static void small_negative(void)
{
	set_maximum(-record_size());
}

static void index_below(void)
{
	move_index(-record_size());
}

static void index_beyond(void)
{
	move_index((RECORDS + 1) * record_size());
}

static void index_uneven(void)
{
	move_index(record_size() + 4);
}

/* In the rules' own words, so that who reads the cases sees which of them each is. */
static const struct rule {
	const char *name;
	void (*prepare)(void);
} rules[] = {
	{ "area-unmapped", area_unmapped },   { "area-high", area_high },
	{ "area-read-only", area_read_only }, { "area-half", area_half },
	{ "area-device", area_device },	      { "area-no-ram", area_no_ram },
	{ "store-unmapped", store_unmapped }, { "store-read-only", store_read_only },
	{ "store-half", store_half },	      { "store-device", store_device },
	{ "store-rom", store_rom },	      { "small-by-one", small_by_one },
	{ "small-empty", small_empty },	      { "small-negative", small_negative },
	{ "index-below", index_below },	      { "index-beyond", index_beyond },
	{ "index-uneven", index_uneven },
};

/* The port that break_write() wants there; as bits of IA32_DEBUGCTL they are reserved. */
#define UPPER_HALF ((u64)SERIAL << 32)

static const struct {
	const char *name;
	u32 msr;
	u32 before; /* in IA32_DEBUGCTL */
	u64 value;
} writes[] = {
	{ "reserved-bit", MSR_DEBUGCTL, 0, 1 << 5 },
	{ "reserved-high", MSR_DEBUGCTL, 0, UPPER_HALF },
	{ "reserved-bts", MSR_DEBUGCTL, 0, DEBUGCTL_BTS },
	{ "reserved-btint", MSR_DEBUGCTL, 0, DEBUGCTL_BTINT },
	{ "reserved-off-os", MSR_DEBUGCTL, 0, DEBUGCTL_OFF_OS },
	{ "changed", MSR_DS_AREA, DEBUGCTL_TR, UPPER_HALF | 0x1000 },
	{ "changed-storing", MSR_DS_AREA, DEBUGCTL_ON, UPPER_HALF | 0x1000 },
};

static void prepare(const struct rule *rule)
{
	map_page(WINDOW, WINDOW, WRITABLE);
	map_page(UNMAPPED - 4096, UNMAPPED - 4096, WRITABLE);
	ds_prepare(area, buffer, RECORDS, 1);
	rule->prepare();
}

static void run_broken(void)
{
	print("# last words\n");
	if (asked_for("int"))
		break_int();
	else if (asked_for("irq"))
		break_irq();
	else
		break_jmp();
}

static void break_rule(void)
{
	for (const struct rule *rule = rules; rule < rules + ARRAY_SIZE(rules); rule++) {
		if (asked_for(rule->name)) {
			prepare(rule);
			run_broken();
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		if (asked_for(writes[i].name)) {
			ds_prepare(area, buffer, RECORDS, 1);
			print("# last words\n");
			write_msr(MSR_DEBUGCTL, writes[i].before);
			break_write(writes[i].msr, writes[i].value);
		}
	}
	write_msr(MSR_DEBUGCTL, 0);
	report(false, "the machine went on");
}

static bool untouched(const u8 *memory, u64 bytes)
{
	for (u64 i = 0; i < bytes; i++) {
		if (memory[i] != 0x5a)
			return false;
	}
	return true;
}

/* What cannot be stored is dropped, and the index stays. */
static void test_dropped(const struct rule *rule)
{
	prepare(rule);

	u64 index = ds_get(area, DS_INDEX);
	u8 *half = (u8 *)(UNMAPPED - 4096);

	for (u64 i = 0; i < 4096; i++)
		half[i] = 0x5a;
	jumps_traced(DEBUGCTL_ON);
	bool ok = ds_get(area, DS_INDEX) == index;

	ok &= untouched(buffer, RECORDS * record_size()) && untouched(half, 4096);
	report(ok, "%s: dropped", rule->name);
}

static void test_lenient(void)
{
	const u64 valid = DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_ON | DEBUGCTL_BTINT |
			  DEBUGCTL_OFF_OS | DEBUGCTL_OFF_USR | 1 << 11 | 1 << 12 | 1 << 14;
	bool ok = true;

	for (const struct rule *rule = rules; rule < rules + ARRAY_SIZE(rules); rule++)
		test_dropped(rule);

	write_msr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	for (unsigned int i = 0; i < 64; i++)
		ok &= valid >> i & 1 || try_write(MSR_DEBUGCTL, 1ULL << i);
	report(ok, "IA32_DEBUGCTL: each reserved bit is #GP");
	report(read_msr(MSR_DEBUGCTL) == DEBUGCTL_LBR, "IA32_DEBUGCTL: and leaves it as it was");

	write_msr(MSR_DEBUGCTL, DEBUGCTL_TR);
	write_msr(MSR_DS_AREA, 0x1000);
	report(read_msr(MSR_DS_AREA) == 0x1000, "IA32_DS_AREA changed under TR: it is changed");
	write_msr(MSR_DEBUGCTL, 0);

	ds_prepare(area, buffer, RECORDS, 1);
	jumps_traced(DEBUGCTL_ON);
	report(ds_get(area, DS_INDEX) == ds_get(area, DS_BASE) + JUMPS * record_size(),
	       "and all is well again");
}

void run_tests(void)
{
	if (asked_for("lenient"))
		test_lenient();
	else
		break_rule();
}
