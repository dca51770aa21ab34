// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID bits and registers. What this CPU has, the image is told in words, of "ds",
 * "dtes64", "ds-cpl" and "bts".
 */
#include "machine.h"

const char image[] = "registers";

#define EDX_DS	   (1U << 21)
#define ECX_DTES64 (1U << 2)
#define ECX_DS_CPL (1U << 4)
#define ECX_LA57   (1U << 16) /* of leaf 7 */

#define BTS_UNAVAILABLE	 (1U << 11)
#define PEBS_UNAVAILABLE (1U << 12)

#define LINEAR 0x123456789000

static struct {
	volatile u64 starts;
	volatile u64 debugctl;
	volatile u64 area;
} other;

static const struct {
	u64 bit;
	const char *wants;
	const char *name;
} bits[] = {
	{ 1 << 0, "ds", "LBR" },
	{ 1 << 1, "ds", "BTF" },
	{ 1 << 6, "ds", "TR" },
	{ 1 << 7, "bts", "BTS" },
	{ 1 << 8, "bts", "BTINT" },
	{ 1 << 9, "ds-cpl", "BTS_OFF_OS" },
	{ 1 << 10, "ds-cpl", "BTS_OFF_USR" },
	{ 1 << 11, "ds", "FREEZE_LBRS_ON_PMI" },
	{ 1 << 12, "ds", "FREEZE_PERFMON_ON_PMI" },
	{ 1 << 14, "ds", "FREEZE_WHILE_SMM" },
};

static bool exists(size_t i)
{
	bool bts = bits[i].bit >= 1 << 7 && bits[i].bit <= 1 << 10;

	return asked_for(bits[i].wants) && (!bts || asked_for("bts"));
}

static void test_cpuid(void)
{
	u32 ecx, edx;

	cpuid(1, &ecx, &edx);
	report(!!(edx & EDX_DS) == asked_for("ds"), "CPUID: DS");
	report(!!(ecx & ECX_DTES64) == asked_for("dtes64"), "CPUID: DTES64");
	report(!!(ecx & ECX_DS_CPL) == asked_for("ds-cpl"), "CPUID: DS_CPL");
}

static void test_misc_enable(void)
{
	const u64 both = BTS_UNAVAILABLE | PEBS_UNAVAILABLE;
	u64 before = read_msr(MSR_MISC_ENABLE);

	if (!asked_for("ds")) {
		report(!(before & both), "IA32_MISC_ENABLE: nothing is said of BTS or PEBS");
		return;
	}
	report(!(before & BTS_UNAVAILABLE) == asked_for("bts"),
	       "IA32_MISC_ENABLE: BTS unavailable");
	report(before & PEBS_UNAVAILABLE, "IA32_MISC_ENABLE: PEBS unavailable");
	write_msr(MSR_MISC_ENABLE, before ^ both);
	report(read_msr(MSR_MISC_ENABLE) == before, "IA32_MISC_ENABLE: both are read-only");
	write_msr(MSR_MISC_ENABLE, before ^ 1);
	report(read_msr(MSR_MISC_ENABLE) == (before ^ 1), "IA32_MISC_ENABLE: other bits are not");
	write_msr(MSR_MISC_ENABLE, before);
}

static void test_debugctl(void)
{
	u64 all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		if (!exists(i))
			continue;
		write_msr(MSR_DEBUGCTL, bits[i].bit);
		report(read_msr(MSR_DEBUGCTL) == bits[i].bit, "IA32_DEBUGCTL: %s", bits[i].name);
		if (bits[i].bit != DEBUGCTL_TR)
			all |= bits[i].bit;
	}
	write_msr(MSR_DEBUGCTL, all);
	report(read_msr(MSR_DEBUGCTL) == all, "IA32_DEBUGCTL: all but TR at once");
	write_msr(MSR_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_TR);
	step_once();
	report(read_msr(MSR_DEBUGCTL) == DEBUGCTL_TR,
	       "IA32_DEBUGCTL: a debug exception clears LBR and BTF");
	write_msr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	asm volatile("int %0" : : "i"(VECTOR_INT));
	report(read_msr(MSR_DEBUGCTL) == DEBUGCTL_LBR, "IA32_DEBUGCTL: int n does not");
	write_msr(MSR_DEBUGCTL, 0);
}

static void test_ds_area(void)
{
	static const u64 good[] = { 0, 0x1000, 0x7fffffffffff, 0xffff800000000000, ~0ULL };
	/* A CPU that has LA57 takes 57 bits in every mode: the last two are for others. */
	static const u64 bad[] = { NOT_ADDRESS, 1ULL << 62, 1ULL << 56, 0x800000000000,
				   0xffff7fffffffffff };
	bool ok = true;
	u32 ecx, edx;

	cpuid(7, &ecx, &edx);
	size_t bad_count = ARRAY_SIZE(bad) - (ecx & ECX_LA57 ? 2 : 0);

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ok &= !try_write(MSR_DS_AREA, good[i]);
		ok &= read_msr(MSR_DS_AREA) == good[i];
	}
	report(ok, "IA32_DS_AREA: takes canonical addresses");
	write_msr(MSR_DS_AREA, LINEAR);
	ok = true;
	for (size_t i = 0; i < bad_count; i++)
		ok &= try_write(MSR_DS_AREA, bad[i]);
	report(ok, "IA32_DS_AREA: others are #GP");
	report(read_msr(MSR_DS_AREA) == LINEAR, "IA32_DS_AREA: and leave it as it was");
}

static void test_ignored(void)
{
	bool ok = !try_write(MSR_DEBUGCTL, ~0ULL) && !try_write(MSR_DS_AREA, NOT_ADDRESS);

	report(ok, "without a Debug Store: writing its registers is ignored");
	ok = !read_msr(MSR_DEBUGCTL) && !read_msr(MSR_DS_AREA);
	report(ok, "without a Debug Store: they read as 0");
}

/* What it finds, and then what the INIT and the RESET to come must, or must not, clear. */
void run_other(void)
{
	other.debugctl = read_msr(MSR_DEBUGCTL);
	other.area = read_msr(MSR_DS_AREA);
	write_msr(MSR_DS_AREA, LINEAR);
	write_msr(MSR_DEBUGCTL, DEBUGCTL_TR | DEBUGCTL_LBR);
	other.starts++;
}

static void wait_for_other(u64 starts)
{
	start_other();
	while (other.starts != starts)
		asm volatile("pause");
}

static void test_init(void)
{
	wait_for_other(1);
	report(!other.debugctl && !other.area, "the other CPU, RESET: both registers are 0");
	wait_for_other(2);
	report(!other.debugctl, "INIT clears IA32_DEBUGCTL");
	report(other.area == LINEAR, "INIT leaves IA32_DS_AREA");
}

void run_tests(void)
{
	report(!read_msr(MSR_DEBUGCTL) && !read_msr(MSR_DS_AREA),
	       was_reset() ? "RESET clears both registers" : "both registers are 0 at first");
	if (was_reset()) {
		wait_for_other(3);
		report(!other.debugctl && !other.area, "RESET clears both of the other CPU");
		return;
	}
	test_cpuid();
	test_misc_enable();
	if (!asked_for("ds")) {
		test_ignored();
		return;
	}
	test_debugctl();
	test_ds_area();
	test_init();
	write_msr(MSR_DS_AREA, LINEAR);
	write_msr(MSR_DEBUGCTL, DEBUGCTL_TR);
	reset_machine();
}
