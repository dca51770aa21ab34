/*
 * Performance counters for the emulated CPU
 *
 * Facts are from the Intel SDM, volume 3, chapter "Performance Monitoring",
 * sections "Architectural Performance Monitoring" and the tables of events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "system/cpu-timers.h"
#include "system/tcg.h"
#include "tcg/debugstore.h"
#include "tcg/pmu.h"

#define COUNTER_WIDTH       48
#define COUNTER_MASK        MAKE_64BIT_MASK(0, COUNTER_WIDTH)
#define ARCH_EVENTS         7

#define EVTSEL_USR          (1ULL << 16)
#define EVTSEL_OS           (1ULL << 17)
#define EVTSEL_EDGE         (1ULL << 18)
#define EVTSEL_PC           (1ULL << 19)
#define EVTSEL_INT          (1ULL << 20)
#define EVTSEL_ANY          (1ULL << 21)
#define EVTSEL_EN           (1ULL << 22)
#define EVTSEL_INV          (1ULL << 23)

#define FIXED_OS            1
#define FIXED_USR           2
#define FIXED_ANY           4
#define FIXED_PMI           8

#define STATUS_TRACE        (1ULL << 55)
#define STATUS_LBR_FRZ      (1ULL << 58)
#define STATUS_CTR_FRZ      (1ULL << 59)
#define STATUS_UNCORE       (1ULL << 61)
#define STATUS_DS           (1ULL << 62)
#define STATUS_COND_CHGD    (1ULL << 63)

#define INUSE_PMI           (1ULL << 63)

#define ANYTHREAD_GONE      (1U << 15)

#define MODEL_PENRYN        0x17
#define MODEL_ICE_LAKE      0x6a

/*
 * A counter is known by its bit in IA32_PERF_GLOBAL_CTRL: general ones from 0,
 * fixed ones from 32.
 */
#define FIXED_BIT           32
#define FIXED_MASK          MAKE_64BIT_MASK(FIXED_BIT, MAX_FIXED_COUNTERS)

/* What counts depends on this. */
enum {
    MODE_OS,
    MODE_USR,
    MODE_FROZEN,
};

/*
 * The model of CPU
 */

bool x86_pmu_present(CPUX86State *env)
{
    return tcg_enabled() && env_archcpu(env)->enable_pmu &&
           IS_INTEL_CPU(env) && (env->cpuid_version >> 8 & 0xf) == 6;
}

static unsigned int model(CPUX86State *env)
{
    return (env->cpuid_version >> 4 & 0xf) | (env->cpuid_version >> 12 & 0xf0);
}

static unsigned int version(CPUX86State *env)
{
    unsigned int asked = env_archcpu(env)->pmu_version;

    if (asked) {
        return MIN(MAX(asked, 2), 5);
    }
    switch (model(env)) {
    case 0 ... MODEL_PENRYN:
        return 2;
    case 0x4e: /* Skylake to Comet Lake */
    case 0x55:
    case 0x5e:
    case 0x8e:
    case 0x9e:
    case 0xa5:
    case 0xa6:
        return 4;
    case MODEL_ICE_LAKE ... 0x8d:
    case 0x8f ... 0x9d:
    case 0x9f ... 0xa4:
    case 0xa7 ... 0xff:
        return 5;
    default:
        return 3;
    }
}

static unsigned int general_counters(CPUX86State *env)
{
    if (model(env) <= MODEL_PENRYN) {
        return 2;
    }
    return version(env) >= 5 ? 8 : 4;
}

/* Since Sandy Bridge; the bigger Nehalems and Westmeres are among those. */
static bool has_full_width(CPUX86State *env)
{
    switch (model(env)) {
    case 0 ... 0x29:
    case 0x2c:
    case 0x2e:
    case 0x2f:
        return false;
    default:
        return true;
    }
}

static bool has_anythread(CPUX86State *env)
{
    return version(env) == 3 || version(env) == 4;
}

static uint64_t counters(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, general_counters(env)) | FIXED_MASK;
}

void x86_pmu_expand_features(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;

    if (!tcg_enabled()) {
        return;
    }
    if (!x86_pmu_present(env)) {
        env->features[FEAT_1_ECX] &= ~CPUID_EXT_PDCM;
        env->features[FEAT_PERF_CAPABILITIES] = 0;
        return;
    }
    env->cpuid_min_level = MAX(env->cpuid_min_level, 0xa);
    env->features[FEAT_1_ECX] |= CPUID_EXT_PDCM &
                                 ~env->user_features[FEAT_1_ECX];
    if (!(env->features[FEAT_1_ECX] & CPUID_EXT_PDCM)) {
        env->features[FEAT_PERF_CAPABILITIES] = 0;
    } else if (has_full_width(env)) {
        env->features[FEAT_PERF_CAPABILITIES] |= PERF_CAP_FW_WRITE &
            ~env->user_features[FEAT_PERF_CAPABILITIES];
    }
}

void x86_pmu_cpuid(CPUX86State *env, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx)
{
    if (!x86_pmu_present(env)) {
        return;
    }
    *eax = version(env) | general_counters(env) << 8 | COUNTER_WIDTH << 16 |
           ARCH_EVENTS << 24;
    *ebx = 0;
    *ecx = version(env) >= 5 ? MAKE_64BIT_MASK(0, MAX_FIXED_COUNTERS) : 0;
    *edx = MAX_FIXED_COUNTERS | COUNTER_WIDTH << 5 |
           (version(env) >= 5 ? ANYTHREAD_GONE : 0);
}

void x86_pmu_reset(CPUX86State *env)
{
    if (x86_pmu_present(env)) {
        env->msr_global_ctrl = MAKE_64BIT_MASK(0, general_counters(env));
    }
}

/*
 * Events
 */

/* The branches that event 0xc4 counts with this unit mask. */
static unsigned int branches_of(CPUX86State *env, unsigned int umask)
{
    unsigned int set = umask;

    if (!umask) {
        return X86_BRANCH_ANY;
    }
    if (model(env) <= MODEL_PENRYN) {
        /* Predicted and not; taken and not. Nothing is mispredicted here. */
        set = umask & 1 ? X86_BRANCH_COND_NOT_TAKEN : 0;
        if (umask & 4) {
            set |= X86_BRANCH_NEAR_TAKEN | X86_BRANCH_FAR;
        }
    } else if (version(env) >= 5 && umask & X86_BRANCH_COND) {
        set = (umask & ~X86_BRANCH_COND) | X86_BRANCH_COND_TAKEN;
    }
    return set;
}

/*
 * A cycle is an instruction, so an event happens once in a cycle or not at
 * all, and a counter mask of two or more is reached in none, or, inverted, in
 * all of them. With an edge nothing is counted.
 */
static void event_of(CPUX86State *env, uint64_t evtsel,
                     bool *insns, unsigned int *branches)
{
    unsigned int umask = evtsel >> 8 & 0xff;
    unsigned int cmask = evtsel >> 24 & 0xff;
    bool inverted = cmask && evtsel & EVTSEL_INV;

    *insns = false;
    *branches = 0;
    if (evtsel & EVTSEL_EDGE) {
        return;
    }
    if (inverted || cmask > 1) {
        *insns = inverted && cmask > 1;
        return;
    }
    switch (evtsel & 0xff) {
    case 0x3c:
    case 0xc0:
        *insns = umask <= 1;
        break;
    case 0xc4:
        *branches = branches_of(env, umask);
        break;
    }
}

/*
 * Counting. Translated code takes each retired instruction from pmu_left, and
 * calls when there may not be enough left for a whole block. From pmu_synced,
 * what pmu_left was, follows what the counters do not have yet.
 */

static int mode_now(CPUX86State *env)
{
    if (env->hflags & HF_SMM_MASK &&
        env->msr_debugctl & DEBUGCTL_FREEZE_IN_SMM) {
        return MODE_FROZEN;
    }
    return env->hflags & HF_CPL_MASK ? MODE_USR : MODE_OS;
}

static uint64_t *counter(CPUX86State *env, int bit)
{
    return bit < FIXED_BIT ? &env->msr_gp_counters[bit]
                           : &env->msr_fixed_counters[bit - FIXED_BIT];
}

static unsigned int fixed_ctrl(CPUX86State *env, int bit)
{
    return env->msr_fixed_ctr_ctrl >> 4 * (bit - FIXED_BIT) & 0xf;
}

static bool interrupts(CPUX86State *env, int bit)
{
    return bit < FIXED_BIT ? env->msr_gp_evtsel[bit] & EVTSEL_INT
                           : fixed_ctrl(env, bit) & FIXED_PMI;
}

/* In which modes; 0 if the counter is off. */
static unsigned int modes_of(CPUX86State *env, int bit)
{
    uint64_t evtsel;

    if (bit >= FIXED_BIT) {
        return fixed_ctrl(env, bit) & (FIXED_OS | FIXED_USR);
    }
    evtsel = env->msr_gp_evtsel[bit];
    if (!(evtsel & EVTSEL_EN)) {
        return 0;
    }
    return (evtsel & EVTSEL_OS ? FIXED_OS : 0) |
           (evtsel & EVTSEL_USR ? FIXED_USR : 0);
}

/* True if that made it overflow. */
static bool add(CPUX86State *env, int bit, uint64_t n)
{
    uint64_t *ctr = counter(env, bit);
    uint64_t sum = *ctr + n;

    *ctr = sum & COUNTER_MASK;
    return sum > COUNTER_MASK;
}

/* Returns whether what counts has changed. */
static bool overflow(CPUX86State *env, uint64_t bits)
{
    bool pmi = false, frozen = false;

    env->msr_global_status |= bits;
    for (; bits; bits &= bits - 1) {
        pmi |= interrupts(env, ctz64(bits));
    }
    if (pmi) {
        if (env->msr_debugctl & DEBUGCTL_FREEZE_PERFMON) {
            frozen = true;
            if (version(env) >= 4) {
                env->msr_global_status |= STATUS_CTR_FRZ;
            } else {
                env->msr_global_ctrl = 0;
            }
        }
        x86_ds_pmi(env);
    }
    return frozen;
}

void x86_pmu_sync(CPUX86State *env)
{
    uint64_t n = env->pmu_synced - env->pmu_left;
    uint64_t over = 0;

    env->pmu_synced = env->pmu_left;
    for (uint64_t bits = env->pmu_insns; bits && n; bits &= bits - 1) {
        if (add(env, ctz64(bits), n)) {
            over |= bits & -bits;
        }
    }
    if (over) {
        overflow(env, over);
    }
}

/* After any change of what counts, what it counts, or how much. */
void x86_pmu_update(CPUX86State *env)
{
    uint64_t enabled, left = INT32_MAX;

    x86_pmu_sync(env);
    enabled = env->msr_global_ctrl & counters(env);
    if (env->msr_global_status & STATUS_CTR_FRZ) {
        enabled = 0;
    }
    env->pmu_mode = mode_now(env);
    env->pmu_on = false;
    env->pmu_insns = 0;
    env->pmu_branches = 0;
    for (; enabled; enabled &= enabled - 1) {
        int bit = ctz64(enabled);
        unsigned int modes = modes_of(env, bit);
        unsigned int branches = 0;
        bool insns = true;

        env->pmu_on |= modes;
        if (env->pmu_mode == MODE_FROZEN || !(modes & 1 << env->pmu_mode)) {
            continue;
        }
        if (bit < FIXED_BIT) {
            event_of(env, env->msr_gp_evtsel[bit], &insns, &branches);
        }
        if (insns) {
            env->pmu_insns |= enabled & -enabled;
            left = MIN(left, COUNTER_MASK + 1 - *counter(env, bit));
        } else if (branches) {
            env->pmu_branches |= enabled & -enabled;
            env->pmu_branch_set[bit] = branches;
        }
    }
    env->pmu_left = left;
    env->pmu_synced = left;
}

uint32_t x86_pmu_tb_flags(CPUX86State *env)
{
    if (env->pmu_mode != mode_now(env) || env->pmu_left <= 0) {
        x86_pmu_update(env);
    }
    return env->pmu_insns || env->pmu_branches ? HF_PMU_MASK : 0;
}

/*
 * From the start of a block of n instructions, when that is more than are
 * left: the next one is a block of its own, or it is time for the overflow.
 * The block is left without a trace of having been entered.
 */
void helper_pmu_due(CPUX86State *env, uint32_t n)
{
    CPUState *cs = env_cpu(env);

    if (icount_enabled()) {
        cs->neg.icount_decr.u16.low += n;
    }
    if (env->pmu_left > 0) {
        cs->cflags_next_tb = (cs->tcg_cflags & ~CF_COUNT_MASK) | 1;
    } else {
        x86_pmu_update(env);
    }
    qatomic_set(&cs->neg.icount_decr.u16.high, -1);
}

/* The branch is what has just retired, in the mode before it. */
void helper_pmu_branch(CPUX86State *env, uint32_t what)
{
    uint64_t over = 0;

    for (uint64_t bits = env->pmu_branches; bits; bits &= bits - 1) {
        int bit = ctz64(bits);

        if (env->pmu_branch_set[bit] & what && add(env, bit, 1)) {
            over |= bits & -bits;
        }
    }
    if (over && overflow(env, over)) {
        x86_pmu_update(env);
    }
}

void x86_pmu_retire_int(CPUX86State *env)
{
    if (env->pmu_insns) {
        env->pmu_left--;
    }
    if (env->pmu_branches) {
        helper_pmu_branch(env, X86_BRANCH_ANY | X86_BRANCH_FAR);
    }
}

/*
 * Registers
 */

static uint64_t evtsel_valid(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, 32) & ~(has_anythread(env) ? 0 : EVTSEL_ANY);
}

static uint64_t fixed_ctrl_valid(CPUX86State *env)
{
    uint64_t one = FIXED_OS | FIXED_USR | FIXED_PMI |
                   (has_anythread(env) ? FIXED_ANY : 0);

    return one | one << 4 | one << 8;
}

static uint64_t status_valid(CPUX86State *env)
{
    uint64_t valid = counters(env) | STATUS_DS | STATUS_COND_CHGD;

    if (version(env) >= 3) {
        valid |= STATUS_UNCORE;
    }
    if (version(env) >= 4) {
        valid |= STATUS_TRACE | STATUS_LBR_FRZ | STATUS_CTR_FRZ;
    }
    return valid;
}

static uint64_t in_use(CPUX86State *env)
{
    uint64_t use = 0;

    for (uint64_t bits = counters(env); bits; bits &= bits - 1) {
        int bit = ctz64(bits);

        if (bit < FIXED_BIT ? env->msr_gp_evtsel[bit] & 0xff
                            : fixed_ctrl(env, bit) & (FIXED_OS | FIXED_USR)) {
            use |= bits & -bits;
        }
        if (interrupts(env, bit)) {
            use |= INUSE_PMI;
        }
    }
    return use;
}

static bool set(uint64_t *reg, uint64_t val, uint64_t valid)
{
    if (val & ~valid) {
        return false;
    }
    *reg = val;
    return true;
}

static bool wrmsr_synced(CPUX86State *env, uint32_t msr, uint64_t val)
{
    unsigned int n = general_counters(env);

    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + X86_PMU_MAX_GP - 1:
        msr -= MSR_P6_PERFCTR0;
        return msr < n && set(&env->msr_gp_counters[msr],
                              (int64_t)(int32_t)val & COUNTER_MASK,
                              COUNTER_MASK);
    case MSR_IA32_PMC0 ... MSR_IA32_PMC0 + X86_PMU_MAX_GP - 1:
        msr -= MSR_IA32_PMC0;
        return msr < n &&
               env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FW_WRITE &&
               set(&env->msr_gp_counters[msr], val, COUNTER_MASK);
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + X86_PMU_MAX_GP - 1:
        msr -= MSR_P6_EVNTSEL0;
        return msr < n && set(&env->msr_gp_evtsel[msr], val,
                              evtsel_valid(env));
    case MSR_CORE_PERF_FIXED_CTR0 ... MSR_CORE_PERF_FIXED_CTR2:
        return set(&env->msr_fixed_counters[msr - MSR_CORE_PERF_FIXED_CTR0],
                   val, COUNTER_MASK);
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        return set(&env->msr_fixed_ctr_ctrl, val, fixed_ctrl_valid(env));
    case MSR_CORE_PERF_GLOBAL_CTRL:
        return set(&env->msr_global_ctrl, val, counters(env));
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        if (val & ~status_valid(env)) {
            return false;
        }
        env->msr_global_status &= ~val;
        return true;
    case MSR_CORE_PERF_GLOBAL_STATUS_SET:
        if (version(env) < 4 || val & ~status_valid(env)) {
            return false;
        }
        env->msr_global_status |= val;
        return true;
    default:
        /* Read-only. */
        return false;
    }
}

/* Without counters this does what QEMU does with an MSR unknown to it. */
bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    bool ok;

    if (!x86_pmu_present(env)) {
        return true;
    }
    x86_pmu_sync(env);
    ok = wrmsr_synced(env, msr, val);
    x86_pmu_update(env);
    return ok;
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    *val = 0;
    if (!x86_pmu_present(env)) {
        return true;
    }
    x86_pmu_sync(env);
    switch (msr) {
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + X86_PMU_MAX_GP - 1:
        return x86_pmu_rdpmc(env, msr - MSR_P6_PERFCTR0, val);
    case MSR_IA32_PMC0 ... MSR_IA32_PMC0 + X86_PMU_MAX_GP - 1:
        return env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FW_WRITE &&
               x86_pmu_rdpmc(env, msr - MSR_IA32_PMC0, val);
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + X86_PMU_MAX_GP - 1:
        msr -= MSR_P6_EVNTSEL0;
        *val = env->msr_gp_evtsel[msr];
        return msr < general_counters(env);
    case MSR_CORE_PERF_FIXED_CTR0 ... MSR_CORE_PERF_FIXED_CTR2:
        *val = env->msr_fixed_counters[msr - MSR_CORE_PERF_FIXED_CTR0];
        return true;
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        *val = env->msr_fixed_ctr_ctrl;
        return true;
    case MSR_CORE_PERF_GLOBAL_STATUS:
        *val = env->msr_global_status;
        return true;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        *val = env->msr_global_ctrl;
        return true;
    case MSR_CORE_PERF_GLOBAL_INUSE:
        *val = in_use(env);
        return version(env) >= 4;
    case MSR_CORE_PERF_GLOBAL_STATUS_SET:
        return version(env) >= 4;
    case MSR_IA32_PERF_CAPABILITIES:
        *val = env->features[FEAT_PERF_CAPABILITIES];
        return env->features[FEAT_1_ECX] & CPUID_EXT_PDCM;
    default:
        /* The register that clears reads as 0. */
        return true;
    }
}

bool x86_pmu_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val)
{
    uint32_t fixed = index - (1U << 30);

    if (index >= general_counters(env) && fixed >= MAX_FIXED_COUNTERS) {
        return false;
    }
    x86_pmu_sync(env);
    *val = index < general_counters(env) ? env->msr_gp_counters[index]
                                         : env->msr_fixed_counters[fixed];
    return true;
}
