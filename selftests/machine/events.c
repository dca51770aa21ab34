// SPDX-License-Identifier: GPL-2.0-only
/* NMI and SMI, which may come some instructions late, and the interrupt of a full buffer. */
#include "machine.h"

const char image[] = "events";

static u8 area[64] __attribute__((aligned(64)));
static u8 buffer[4096] __attribute__((aligned(64)));

static u64 records(void)
{
	return (ds_get(area, DS_INDEX) - ds_get(area, DS_BASE)) / record_size();
}

static bool is_last_jmp(u64 i)
{
	struct branch record = ds_record(buffer, i);

	return record.from == (uintptr_t)ipi_jmp && record.to == (uintptr_t)ipi_jmp + 2;
}

static void test_nmi(void)
{
	ds_prepare(area, buffer, 64, 1);
	ipi_traced(DEBUGCTL_ON, ICR_NMI | ICR_ASSERT);

	struct branch enter = ds_record(buffer, 0), back = ds_record(buffer, 1);

	report(records() == 3 && is_last_jmp(2), "NMI: one branch there, and one back");
	report(enter.from >= (uintptr_t)ipi_sent && enter.from <= (uintptr_t)ipi_jmp,
	       "NMI: from the instruction that would have run next");
	report(enter.to == (uintptr_t)vector_2, "NMI: to its handler");
	report(back.from == (uintptr_t)vector_2_iret && back.to == enter.from, "NMI: and back");
}

static void test_smi(void)
{
	volatile u8 *code = (u8 *)SMM_CODE;
	volatile u32 *count = (u32 *)SMM_COUNT;

	for (const char *byte = smm_code; byte < smm_code_end; byte++)
		*code++ = *byte;
	ds_prepare(area, buffer, 64, 1);
	ipi_traced(DEBUGCTL_ON, ICR_SMI | ICR_ASSERT);
	report(*count == 1, "SMI: the handler ran");
	report(records() == 1 && is_last_jmp(0),
	       "SMI: nothing of it is stored, and what comes after is");
	write_msr(MSR_DEBUGCTL, DEBUGCTL_LBR);
	ipi_traced(0, ICR_SMI | ICR_ASSERT);
	report(*count == 2 && records() == 1, "SMI: nor is there a record when all is off");
	write_msr(MSR_DEBUGCTL, 0);
}

/* The record that reaches the threshold raises it; it is itself a branch, and the next record. */
static void test_threshold(void)
{
	volatile u32 *lvtpc = (void *)(APIC + APIC_LVTPC + 0UL);
	u64 at = (uintptr_t)traced_jumps + 2 * 3;

	*lvtpc = ICR_NMI;
	ds_prepare(area, buffer, 64, 1);
	ds_set(area, DS_THRESHOLD, ds_get(area, DS_BASE) + 3 * record_size());
	jumps_traced(DEBUGCTL_ON | DEBUGCTL_BTINT);

	struct branch enter = ds_record(buffer, 3), back = ds_record(buffer, 4);

	report(enter.from == at && enter.to == (uintptr_t)vector_2,
	       "BTINT: an NMI at the threshold, before the next jump");
	report(back.from == (uintptr_t)vector_2_iret && back.to == at, "BTINT: and back");
	report(records() == JUMPS + 2, "BTINT: once");
	report(*lvtpc & 1 << 16, "BTINT: LVTPC is masked");
	ds_prepare(area, buffer, 64, 1);
	ds_set(area, DS_THRESHOLD, ds_get(area, DS_BASE) + 3 * record_size());
	jumps_traced(DEBUGCTL_ON | DEBUGCTL_BTINT);
	report(records() == JUMPS, "BTINT: masked, there is none");
	*lvtpc = ICR_NMI;
	ds_prepare(area, buffer, 64, 1);
	ds_set(area, DS_THRESHOLD, ds_get(area, DS_BASE) + 3 * record_size());
	jumps_traced(DEBUGCTL_ON);
	report(records() == JUMPS, "without BTINT there is none");
}

void run_tests(void)
{
	test_threshold();
	test_nmi();
	test_smi();
}
