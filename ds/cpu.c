// SPDX-License-Identifier: GPL-2.0-only
/* What this CPU's Debug Store can do. */

#include <linux/kernel.h>
#include <linux/stdarg.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "internal.h"

/**
 * ds_refuse() - say why
 * @reason: gets the sentence
 * @error: negative errno
 * @format: printf format of the sentence
 *
 * Return: @error, so that a caller can return it in the same line.
 */
int ds_refuse(struct ds_reason *reason, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(reason->text, sizeof(reason->text), format, args);
	va_end(args);
	return error;
}

/*
 * IA32_DEBUGCTL has its BTS bits where we expect them from Core2 on; Netburst
 * (family 15) and Pentium M (family 6 below model 15) have them elsewhere.
 */
static bool core2_or_later(const struct cpuinfo_x86 *c)
{
	return (c->x86 == 6 && c->x86_model >= 15) || c->x86 > 15;
}

/**
 * ds_cpu_detect() - is there a Debug Store that we can drive?
 * @reason: says why not
 *
 * Return: 0, or -ENODEV if the CPU has none for us.
 */
int ds_cpu_detect(struct ds_reason *reason)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	if (c->x86_vendor != X86_VENDOR_INTEL)
		return ds_refuse(reason, -ENODEV, "not an Intel CPU (%s): no Debug Store",
				 c->x86_vendor_id);
	if (!boot_cpu_has(X86_FEATURE_DS))
		return ds_refuse(reason, -ENODEV,
				 "this CPU has no Debug Store (CPUID.1:EDX.DS is 0)");
	if (!boot_cpu_has(X86_FEATURE_DTES64))
		return ds_refuse(reason, -ENODEV,
				 "the Debug Store has 32-bit fields (CPUID.1:ECX.DTES64 is 0): not supported");
	if (!core2_or_later(c))
		return ds_refuse(reason, -ENODEV,
				 "family %u model %u has its own IA32_DEBUGCTL layout: not supported",
				 c->x86, c->x86_model);
	if (!boot_cpu_has(X86_FEATURE_BTS))
		return ds_refuse(reason, -ENODEV,
				 "Branch Trace Store is unavailable (IA32_MISC_ENABLE bit 11 is 1)");
	return 0;
}

/**
 * ds_can_select() - can this CPU record these branches and no others?
 * @select: DS_USER, DS_KERNEL or both
 */
bool ds_can_select(unsigned int select)
{
	return select == (DS_USER | DS_KERNEL) || boot_cpu_has(X86_FEATURE_DSCPL);
}

/**
 * ds_cpu_control() - our bits of IA32_DEBUGCTL that record what is selected
 * @select: DS_USER, DS_KERNEL or both, as ds_can_select() allows
 */
u64 ds_cpu_control(unsigned int select)
{
	u64 control = DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS;

	if (!(select & DS_KERNEL))
		control |= DEBUGCTLMSR_BTS_OFF_OS;
	if (!(select & DS_USER))
		control |= DEBUGCTLMSR_BTS_OFF_USR;
	return control;
}
