// SPDX-License-Identifier: GPL-2.0-only
/*
 * One driver of the Debug Store at a time.
 *
 * perf sets IA32_DS_AREA when its first hardware event starts, after it reserved
 * every event select register (x86_reserve_hardware()). While we hold these, it
 * gets EBUSY; while it holds them, we do.
 */

#include <linux/smp.h>
#include <asm/cpu_entry_area.h>
#include <asm/cpufeature.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#include "internal.h"

static unsigned int evntsels(void)
{
	if (!boot_cpu_has(X86_FEATURE_ARCH_PERFMON))
		return 0;
	return (cpuid_eax(0xa) >> 8) & 0xff;
}

static void release_evntsels(unsigned int n)
{
	while (n--)
		release_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + n);
}

/*
 * perf leaves its own area there when its last event has gone: release_ds_buffers()
 * forgets the area before fini_debug_store_on_cpu() would clear the register. Since
 * the NMI watchdog tries perf at boot, on or off, it is there on every machine with
 * counters. Nobody uses it while we have the event select registers.
 */
static u64 area_of_perf(void)
{
	return (unsigned long)&get_cpu_entry_area(smp_processor_id())->cpu_debug_store;
}

static void look_for_others(void *data)
{
	unsigned int *others = data;
	u64 area, control;

	rdmsrq(MSR_IA32_DS_AREA, area);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, control);
	if ((area && area != area_of_perf()) || control & DS_CONTROL_MASK)
		WRITE_ONCE(*others, 1);
}

static void clear_area(void *data)
{
	wrmsrq(MSR_IA32_DS_AREA, 0);
}

/**
 * ds_peace_claim() - have the Debug Store to ourselves
 * @reason: says who has it
 *
 * Context: process, sleeps.
 * Return: 0 or -EBUSY.
 */
int ds_peace_claim(struct ds_reason *reason)
{
	unsigned int i, others = 0;

	for (i = 0; i < evntsels(); i++) {
		if (reserve_evntsel_nmi(MSR_ARCH_PERFMON_EVENTSEL0 + i))
			continue;
		release_evntsels(i);
		return ds_refuse(reason, -EBUSY,
				 "perf holds the hardware counters: end perf, and the NMI watchdog with sysctl kernel.nmi_watchdog=0");
	}
	on_each_cpu(look_for_others, &others, 1);
	if (others) {
		release_evntsels(i);
		return ds_refuse(reason, -EBUSY,
				 "IA32_DS_AREA is set: another driver or a hypervisor uses the Debug Store");
	}
	return 0;
}

/**
 * ds_peace_release() - give it back as it was
 *
 * No context is loaded and none will be. Context: process, sleeps.
 */
void ds_peace_release(void)
{
	on_each_cpu(clear_area, NULL, 1);
	release_evntsels(evntsels());
}
