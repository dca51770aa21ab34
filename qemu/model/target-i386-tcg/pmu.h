/*
 * Performance counters for the emulated CPU: what QEMU's own files may call
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef I386_TCG_PMU_H
#define I386_TCG_PMU_H

#define MSR_CORE_PERF_GLOBAL_STATUS_SET     0x391
#define MSR_CORE_PERF_GLOBAL_INUSE          0x392
#define MSR_IA32_PMC0                       0x4c1

#define MISC_ENABLE_EMON                    (1ULL << 7)
#define PERF_CAP_FW_WRITE                   (1ULL << 13)

#define X86_PMU_MAX_GP                      8

/*
 * What a retired branch is, as bits. An event is a set of them, and counts
 * the branches that have one of its bits.
 */
#define X86_BRANCH_COND                     0x001
#define X86_BRANCH_CALL                     0x002
#define X86_BRANCH_ANY                      0x004
#define X86_BRANCH_RET                      0x008
#define X86_BRANCH_COND_NOT_TAKEN           0x010
#define X86_BRANCH_NEAR_TAKEN               0x020
#define X86_BRANCH_FAR                      0x040
#define X86_BRANCH_INDIRECT                 0x080
#define X86_BRANCH_COND_TAKEN               0x100

/* CPU configuration and reset. */
bool x86_pmu_present(CPUX86State *env);
void x86_pmu_expand_features(X86CPU *cpu);
void x86_pmu_cpuid(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx);
void x86_pmu_reset(CPUX86State *env);

/* Registers. A false return asks for #GP(0). */
bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
bool x86_pmu_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val);

/* The counters' registers as they are now; and after others changed them. */
void x86_pmu_sync(CPUX86State *env);
void x86_pmu_update(CPUX86State *env);

/* HF_PMU_MASK if something is counted in the present state. */
uint32_t x86_pmu_tb_flags(CPUX86State *env);

/* An INT n has been delivered: no translated code has counted it. */
void x86_pmu_retire_int(CPUX86State *env);

#endif /* I386_TCG_PMU_H */
