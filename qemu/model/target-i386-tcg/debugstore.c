/*
 * Debug Store for the emulated CPU: branch trace store
 *
 * Facts are from the Intel SDM, volume 3, chapter "Debug, Branch Profile,
 * TSC, and Intel Resource Director Technology (Intel RDT) Features", sections
 * "IA32_DEBUGCTL MSR", "Branch Trace Store (BTS)" and "BTS and DS Save Area".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/i386/apic.h"
#include "migration/vmstate.h"
#include "system/cpus.h"
#include "system/runstate.h"
#include "system/runstate-action.h"
#include "system/tcg.h"
#include "tcg/debugstore.h"
#include "tcg/pmu.h"

#define CPUID_ECX_DS        (CPUID_EXT_DTES64 | CPUID_EXT_DSCPL)
#define BTS_ON              (DEBUGCTL_TR | DEBUGCTL_BTS)
#define BTS_OFF_ALL         (DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR)

/* The fields that lead the DS area; each is as wide as a record's fields. */
enum {
    DS_BTS_BASE,
    DS_BTS_INDEX,
    DS_BTS_MAX,
    DS_BTS_THRESHOLD,
    DS_BTS_FIELDS,
};

enum {
    REC_FROM,
    REC_TO,
    REC_FLAGS,
    REC_FIELDS,
};

/* Guest memory by linear address, checked; at most one page boundary in it. */
typedef struct DSSpan {
    uint8_t *host[2];
    unsigned int len[2];
} DSSpan;

static bool have_ds(CPUX86State *env)
{
    return tcg_enabled() && (env->features[FEAT_1_EDX] & CPUID_DTS);
}

static bool have_bts(CPUX86State *env)
{
    return have_ds(env) && env_archcpu(env)->ds_bts;
}

static unsigned int field_size(CPUX86State *env)
{
    return env->features[FEAT_1_ECX] & CPUID_EXT_DTES64 ? 8 : 4;
}

void x86_ds_expand_features(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;
    uint64_t edx = CPUID_DTS & ~env->user_features[FEAT_1_EDX];
    uint64_t ecx = CPUID_ECX_DS & ~env->user_features[FEAT_1_ECX];

    if (cpu->debug_store) {
        env->features[FEAT_1_EDX] |= edx;
        env->features[FEAT_1_ECX] |= ecx;
    } else if (tcg_enabled() && cpu->max_features) {
        /* "max" is everything that TCG has; this must be asked for. */
        env->features[FEAT_1_EDX] &= ~edx;
        env->features[FEAT_1_ECX] &= ~ecx;
    }
}

/*
 * Guest errors
 */

static bool reported;

/* Another CPU, or a device, may have asked for a shutdown of its own. */
static void insist_on_exit_code(Notifier *n, void *data)
{
    qemu_system_shutdown_request_with_code(SHUTDOWN_CAUSE_GUEST_SHUTDOWN,
                                           X86_DS_EXIT_GUEST_ERROR);
}

static Notifier shutdown_notifier = { .notify = insist_on_exit_code };

static void G_GNUC_PRINTF(6, 7)
guest_error(CPUX86State *env, const char *rule, uint64_t rip,
            const char *key, uint64_t val, const char *fmt, ...)
{
    g_autofree char *words = NULL;
    g_autofree char *line = NULL;
    va_list ap;

    va_start(ap, fmt);
    words = g_strdup_vprintf(fmt, ap);
    va_end(ap);
    line = g_strdup_printf("debug store: guest error: %s: CPU %d, "
                           "rip 0x%" PRIx64 ", cpl %d, %s 0x%" PRIx64 ", "
                           "cr3 0x%" PRIx64 ": %s\n",
                           rule, env_cpu(env)->cpu_index, rip,
                           (int)(env->hflags & HF_CPL_MASK), key, val,
                           (uint64_t)env->cr[3], words);

    if (!env_archcpu(env)->ds_strict) {
        qemu_log_mask(LOG_GUEST_ERROR, "%s", line);
        return;
    }

    BQL_LOCK_GUARD();
    if (!reported) {
        reported = true;
        fprintf(stderr, "qemu: %s", line);
        qemu_register_shutdown_notifier(&shutdown_notifier);
    }
    shutdown_action = SHUTDOWN_ACTION_POWEROFF;
    qemu_system_shutdown_request_with_code(SHUTDOWN_CAUSE_GUEST_SHUTDOWN,
                                           X86_DS_EXIT_GUEST_ERROR);
    /* Translated code looks at this before its next instruction. */
    cpu_stop_current();
}

/*
 * Registers
 */

static uint64_t debugctl_valid(CPUX86State *env)
{
    uint64_t valid = DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_TR |
                     DEBUGCTL_FREEZE_LBRS | DEBUGCTL_FREEZE_PERFMON |
                     DEBUGCTL_FREEZE_IN_SMM;

    if (have_bts(env)) {
        valid |= DEBUGCTL_BTS | DEBUGCTL_BTINT;
        if (env->features[FEAT_1_ECX] & CPUID_EXT_DSCPL) {
            valid |= BTS_OFF_ALL;
        }
    }
    return valid;
}

static bool write_debugctl(CPUX86State *env, uint64_t val)
{
    uint64_t bad = val & ~debugctl_valid(env);

    if (bad) {
        guest_error(env, "reserved-bit", x86_ds_ip(env), "value", val,
                    "IA32_DEBUGCTL written with bits 0x%" PRIx64
                    " set, which this CPU reserves", bad);
        return false;
    }
    env->msr_debugctl = val;
    return true;
}

static bool write_ds_area(CPUX86State *env, uint64_t val)
{
    int unused = 64 - cpu_x86_virtual_addr_width(env);

    if (env->features[FEAT_8000_0001_EDX] & CPUID_EXT2_LM) {
        if ((int64_t)(val << unused) >> unused != (int64_t)val) {
            return false;
        }
    } else if (val >> 32) {
        return false;
    }
    if (env->msr_debugctl & DEBUGCTL_TR) {
        guest_error(env, "area-changed", x86_ds_ip(env), "value", val,
                    "IA32_DS_AREA written while IA32_DEBUGCTL.TR is set");
    }
    env->msr_ds_area = val;
    return true;
}

/* Which of the two there are. IA32_DEBUGCTL freezes counters, too. */
static bool have_msr(CPUX86State *env, uint32_t msr)
{
    return have_ds(env) || (msr == MSR_IA32_DEBUGCTL && x86_pmu_present(env));
}

/* One that is not there does what QEMU does with an MSR unknown to it. */
bool x86_ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (!have_msr(env, msr)) {
        return true;
    }
    return msr == MSR_IA32_DEBUGCTL ? write_debugctl(env, val)
                                    : write_ds_area(env, val);
}

uint64_t x86_ds_rdmsr(CPUX86State *env, uint32_t msr)
{
    if (!have_msr(env, msr)) {
        return 0;
    }
    return msr == MSR_IA32_DEBUGCTL ? env->msr_debugctl : env->msr_ds_area;
}

/* IA32_MISC_ENABLE as read: some of its bits are not the guest's. */
uint64_t x86_ds_misc_enable(CPUX86State *env, uint64_t val)
{
    if (have_ds(env)) {
        val |= MISC_ENABLE_PEBS_UNAVAIL | MISC_ENABLE_BTS_UNAVAIL;
        if (have_bts(env)) {
            val &= ~MISC_ENABLE_BTS_UNAVAIL;
        }
    }
    if (x86_pmu_present(env)) {
        val |= MISC_ENABLE_EMON;
    }
    return val;
}

static bool debug_store_needed(void *opaque)
{
    CPUX86State *env = &((X86CPU *)opaque)->env;

    return env->msr_debugctl || env->msr_ds_area;
}

const VMStateDescription vmstate_x86_debug_store = {
    .name = "cpu/debug_store",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = debug_store_needed,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT64(env.msr_debugctl, X86CPU),
        VMSTATE_UINT64(env.msr_ds_area, X86CPU),
        VMSTATE_END_OF_LIST()
    }
};

/*
 * Memory
 */

/*
 * The store is the processor's own, so it is a supervisor access whatever the
 * CPL and EFLAGS.AC do not matter to it, and the width of an address is the
 * paging mode's, not the code segment's.
 */
static int ds_mmu_index(CPUX86State *env)
{
    int base = env->hflags & HF_SMAP_MASK ? MMU_KSMAP64_IDX
                                          : MMU_KNOSMAP64_IDX;

    return base + (env->hflags & HF_LMA_MASK ? 0 : 1);
}

/*
 * Probing makes the page dirty and drops translations of code in it, so that
 * plain stores are all that is left to do. They meet no watchpoint and cannot
 * fault.
 */
static bool span_probe(CPUX86State *env, uint64_t addr, unsigned int len,
                       DSSpan *span, uint64_t *bad)
{
    int mmu_idx = ds_mmu_index(env);
    int error_code = env->error_code;

    for (int i = 0; i < 2; i++, addr += span->len[0], len -= span->len[0]) {
        unsigned int room = -(addr | TARGET_PAGE_MASK);
        void *host;
        int flags;

        span->len[i] = MIN(len, room);
        if (!span->len[i]) {
            break;
        }
        flags = probe_access_flags(env, addr, span->len[i], MMU_DATA_STORE,
                                   mmu_idx, true, &host, 0);
        if (flags & (TLB_INVALID_MASK | TLB_MMIO)) {
            /* A probe that misses leaves the page fault's code there. */
            env->error_code = error_code;
            *bad = addr;
            return false;
        }
        span->host[i] = host;
    }
    return true;
}

static void span_copy(DSSpan *span, unsigned int off, void *buf,
                      unsigned int len, bool store)
{
    while (len) {
        int i = off >= span->len[0];
        unsigned int start = off - (i ? span->len[0] : 0);
        unsigned int n = MIN(len, span->len[i] - start);

        if (store) {
            memcpy(span->host[i] + start, buf, n);
        } else {
            memcpy(buf, span->host[i] + start, n);
        }
        off += n;
        buf += n;
        len -= n;
    }
}

static uint64_t span_load(DSSpan *span, unsigned int field, unsigned int size)
{
    uint8_t buf[8];

    span_copy(span, field * size, buf, size, false);
    return ldn_le_p(buf, size);
}

static void span_store(DSSpan *span, unsigned int field, unsigned int size,
                       uint64_t val)
{
    uint8_t buf[8];

    stn_le_p(buf, size, val);
    span_copy(span, field * size, buf, size, true);
}

/*
 * The interrupt: a CPU's own, so it is the CPU that raises it, in the middle
 * of an instruction or between two, with or without the big lock. The code
 * translated next looks for it before its first instruction.
 */
void x86_ds_pmi(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    bool can_do_io = cs->neg.can_do_io;

    if (!env_archcpu(env)->apic_state) {
        return;
    }
    BQL_LOCK_GUARD();
    /* Where instructions are counted, this is as good a place as another. */
    cs->neg.can_do_io = true;
    apic_deliver_pmi(env_archcpu(env)->apic_state);
    cs->neg.can_do_io = can_do_io;
}

/*
 * Branches
 */

uint64_t x86_ds_ip(CPUX86State *env)
{
    if (env->hflags & HF_CS64_MASK) {
        return env->eip;
    }
    return (uint32_t)(env->segs[R_CS].base + env->eip);
}

/* Which side of a crossing counts, the SDM leaves open: the far one does. */
static bool cpl_filtered(CPUX86State *env)
{
    return env->msr_debugctl & (env->hflags & HF_CPL_MASK
                                ? DEBUGCTL_BTS_OFF_USR : DEBUGCTL_BTS_OFF_OS);
}

static bool bts_storing(CPUX86State *env)
{
    return (env->msr_debugctl & BTS_ON) == BTS_ON &&
           (env->msr_debugctl & BTS_OFF_ALL) != BTS_OFF_ALL &&
           !(env->hflags & HF_SMM_MASK);
}

uint32_t x86_ds_tb_flags(CPUX86State *env)
{
    if (!bts_storing(env)) {
        return 0;
    }
    return HF_BTS_MASK | (cpl_filtered(env) ? 0 : HF_BTS_NEAR_MASK);
}

/*
 * A buffer that interrupts is not circular: once it is full, nothing more is
 * stored until software moves the index. One that does not starts again.
 */
static void bts_store(CPUX86State *env, uint64_t from, uint64_t to)
{
    unsigned int size = field_size(env);
    unsigned int rec_size = REC_FIELDS * size;
    bool interrupts = env->msr_debugctl & DEBUGCTL_BTINT;
    uint64_t base, index, max, threshold, bad;
    DSSpan area, rec;

    if (!span_probe(env, env->msr_ds_area, DS_BTS_FIELDS * size,
                    &area, &bad)) {
        guest_error(env, "area-unmapped", from, "address", bad,
                    "the DS management area is not mapped as writable memory");
        return;
    }
    base = span_load(&area, DS_BTS_BASE, size);
    index = span_load(&area, DS_BTS_INDEX, size);
    max = span_load(&area, DS_BTS_MAX, size);
    threshold = span_load(&area, DS_BTS_THRESHOLD, size);

    if (max < base || max - base < rec_size) {
        guest_error(env, "buffer-too-small", from, "address", base,
                    "no record fits between the BTS buffer's base and its "
                    "absolute maximum 0x%" PRIx64, max);
        return;
    }
    if (index < base || index > max || (index - base) % rec_size) {
        guest_error(env, "index-misplaced", from, "address", index,
                    "the BTS index is not a record's place in the buffer "
                    "0x%" PRIx64 " to 0x%" PRIx64, base, max);
        return;
    }
    if (max - index < rec_size) {
        if (interrupts) {
            return;
        }
        index = base;
    }
    if (!span_probe(env, index, rec_size, &rec, &bad)) {
        guest_error(env, "store-unmapped", from, "address", bad,
                    "the BTS buffer is not mapped as writable memory");
        return;
    }
    span_store(&rec, REC_FROM, size, from);
    span_store(&rec, REC_TO, size, to);
    span_store(&rec, REC_FLAGS, size, 0);

    index += rec_size;
    /* The maximum may or may not be one past the end: both are in use. */
    if (!interrupts && max - index < rec_size) {
        index = base;
    }
    span_store(&area, DS_BTS_INDEX, size, index);

    /* Once, by the record that reaches the threshold or is the first past. */
    if (interrupts && index >= threshold && index - rec_size < threshold) {
        x86_ds_pmi(env);
    }
}

static void branch_done(CPUX86State *env, uint64_t from)
{
    if (bts_storing(env) && !cpl_filtered(env)) {
        bts_store(env, from, x86_ds_ip(env));
    }
}

void helper_ds_branch(CPUX86State *env, target_ulong from)
{
    branch_done(env, from);
}

void x86_ds_interrupt(CPUX86State *env, uint64_t from, bool is_db)
{
    if (likely(!env->msr_debugctl)) {
        return;
    }
    branch_done(env, from);
    if (is_db) {
        env->msr_debugctl &= ~(DEBUGCTL_LBR | DEBUGCTL_BTF);
    }
}
