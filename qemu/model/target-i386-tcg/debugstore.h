/*
 * Debug Store for the emulated CPU: what QEMU's own files may call
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef I386_TCG_DEBUGSTORE_H
#define I386_TCG_DEBUGSTORE_H

#define MSR_IA32_DEBUGCTL           0x1d9
#define MSR_IA32_DS_AREA            0x600

#define MISC_ENABLE_BTS_UNAVAIL     (1ULL << 11)
#define MISC_ENABLE_PEBS_UNAVAIL    (1ULL << 12)

#define DEBUGCTL_LBR                (1ULL << 0)
#define DEBUGCTL_BTF                (1ULL << 1)
#define DEBUGCTL_TR                 (1ULL << 6)
#define DEBUGCTL_BTS                (1ULL << 7)
#define DEBUGCTL_BTINT              (1ULL << 8)
#define DEBUGCTL_BTS_OFF_OS         (1ULL << 9)
#define DEBUGCTL_BTS_OFF_USR        (1ULL << 10)
#define DEBUGCTL_FREEZE_LBRS        (1ULL << 11)
#define DEBUGCTL_FREEZE_PERFMON     (1ULL << 12)
#define DEBUGCTL_FREEZE_IN_SMM      (1ULL << 14)

/* What the process exits with after a guest error. */
#define X86_DS_EXIT_GUEST_ERROR     70

extern const VMStateDescription vmstate_x86_debug_store;

/* CPU configuration: turn the property into CPUID bits. */
void x86_ds_expand_features(X86CPU *cpu);

/* Registers. A false return asks for #GP(0). */
bool x86_ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
uint64_t x86_ds_rdmsr(CPUX86State *env, uint32_t msr);
uint64_t x86_ds_misc_enable(CPUX86State *env, uint64_t val);

/* The HF_BTS* bits for code translated in the present state. */
uint32_t x86_ds_tb_flags(CPUX86State *env);

/*
 * Around the delivery of an exception or interrupt: x86_ds_ip() before,
 * x86_ds_interrupt() once it has succeeded.
 */
uint64_t x86_ds_ip(CPUX86State *env);
void x86_ds_interrupt(CPUX86State *env, uint64_t from, bool is_db);

/* A performance monitoring interrupt, as the local APIC's LVT entry says. */
void x86_ds_pmi(CPUX86State *env);

#endif /* I386_TCG_DEBUGSTORE_H */
