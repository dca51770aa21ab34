// SPDX-License-Identifier: GPL-2.0-only
/* What happens on the CPU: contexts are loaded and unloaded as tasks come and go. */

#include <linux/binfmts.h>
#include <linux/cred.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "internal.h"

static DEFINE_PER_CPU(struct ds_context *, loaded);
static struct tracepoint *switch_point, *exec_point;

/*
 * load() and unload() run with interrupts off on the CPU they are about. Nothing
 * here locks, allocates or waits. An NMI between any two lines finds recording
 * either off, or on with a valid area, and may itself change other bits of
 * IA32_DEBUGCTL only if it puts them back, as perf's does.
 */
static void load(struct ds_context *ctx)
{
	WRITE_ONCE(ctx->cpu, smp_processor_id());
	/* either we see that it was stopped, or ds_switch_evict() sees this CPU */
	smp_mb();
	if (!READ_ONCE(ctx->recording) || READ_ONCE(ctx->dropped)) {
		WRITE_ONCE(ctx->cpu, -1);
		return;
	}
	__this_cpu_write(loaded, ctx);
	WRITE_ONCE(ctx->switches, ctx->switches + 1);
	ds_msr_on(&ctx->buffer, ctx->control);
}

static void unload(struct ds_context *ctx)
{
	ds_msr_off();
	__this_cpu_write(loaded, NULL);
	/* who reads -1 may read the records */
	smp_store_release(&ctx->cpu, -1);
}

/* rq lock held, interrupts off, still on the stack of @prev */
static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct ds_context *ctx = __this_cpu_read(loaded);

	if (ctx)
		unload(ctx);
	ctx = ds_table_find(next);
	if (ctx)
		load(ctx);
}

/*
 * A program that its caller may not read or whose rights are others' is not to be
 * watched by who could watch the caller. We are here before its first instruction.
 */
static void on_exec(void *data, struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
{
	const struct cred *cred = current_cred();
	struct ds_context *ctx;
	unsigned long flags;

	if (!bprm->secureexec && !(bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP) &&
	    uid_eq(cred->uid, cred->euid) && gid_eq(cred->gid, cred->egid))
		return;

	rcu_read_lock();
	ctx = ds_table_find(p);
	if (ctx) {
		local_irq_save(flags);
		WRITE_ONCE(ctx->dropped, true);
		if (__this_cpu_read(loaded) == ctx)
			unload(ctx);
		local_irq_restore(flags);
	}
	rcu_read_unlock();
}

static void load_if_current(void *data)
{
	struct ds_context *ctx = data;

	if (current == ctx->task && !__this_cpu_read(loaded))
		load(ctx);
}

static void unload_if_loaded(void *data)
{
	struct ds_context *ctx = data;

	if (__this_cpu_read(loaded) == ctx)
		unload(ctx);
}

/**
 * ds_switch_kick() - load a context whose task runs already
 * @ctx: just set recording
 *
 * If the task leaves the CPU we ask, it is switched in after that, and the switch
 * sees that it is recording.
 *
 * Context: process, sleeps not, waits for another CPU.
 */
void ds_switch_kick(struct ds_context *ctx)
{
	smp_mb();	/* @recording before the task's CPU; pairs with the scheduler's */
	smp_call_function_single(task_cpu(ctx->task), load_if_current, ctx, 1);
}

/**
 * ds_switch_evict() - unload a context wherever it is
 * @ctx: just set not recording
 *
 * When it returns, no CPU records into the context, and none will.
 *
 * Context: process, sleeps not, waits for another CPU.
 */
void ds_switch_evict(struct ds_context *ctx)
{
	int cpu;

	smp_mb();	/* @recording before @cpu; pairs with load() */
	cpu = smp_load_acquire(&ctx->cpu);
	if (cpu >= 0)
		smp_call_function_single(cpu, unload_if_loaded, ctx, 1);
}

/**
 * ds_switch_hook() - be called at every switch and exec
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int ds_switch_hook(void)
{
	int error;

	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_process_exec(on_exec);

	error = tracepoint_probe_register(exec_point, on_exec, NULL);
	if (error)
		return error;
	error = tracepoint_probe_register(switch_point, on_switch, NULL);
	if (error) {
		tracepoint_probe_unregister(exec_point, on_exec, NULL);
		tracepoint_synchronize_unregister();
	}
	return error;
}

/**
 * ds_switch_unhook() - be called no more
 *
 * No context is left. When it returns, no probe runs.
 *
 * Context: process, sleeps.
 */
void ds_switch_unhook(void)
{
	tracepoint_probe_unregister(switch_point, on_switch, NULL);
	tracepoint_probe_unregister(exec_point, on_exec, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * ds_switch_init() - find what we hook into
 * @reason: says what is missing
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int ds_switch_init(struct ds_reason *reason)
{
	switch_point = compat_tracepoint("sched_switch");
	exec_point = compat_tracepoint("sched_process_exec");
	if (!switch_point || !exec_point)
		return ds_refuse(reason, -EOPNOTSUPP,
				 "the kernel has no tracepoint %s: CONFIG_TRACEPOINTS is needed",
				 switch_point ? "sched_process_exec" : "sched_switch");
	return 0;
}
