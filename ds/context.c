// SPDX-License-Identifier: GPL-2.0-only
/* The life of a context: made, attached to its task, started and stopped, destroyed. */

#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include "internal.h"

/* Who has a context, and with the first and last of them the hooks and the hardware. */
static DEFINE_MUTEX(attach_mutex);
static unsigned int attached;

/**
 * ds_context_create() - make a context for a task
 * @task: the task; a reference is taken
 * @select: DS_USER, DS_KERNEL or both, as ds_can_select() allows
 * @bytes: size of the circular buffer; charged to current's user
 * @reason: says what was refused
 *
 * The context is stopped, and nobody's until ds_context_attach().
 *
 * Context: process, sleeps.
 * Return: the context or an error pointer: -EINVAL, -ENOMEM.
 */
struct ds_context *ds_context_create(struct task_struct *task, unsigned int select, u64 bytes,
				     struct ds_reason *reason)
{
	struct ds_context *ctx;
	int error;

	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return ERR_PTR(ds_refuse(reason, -ENOMEM, "no memory for a context"));
	error = ds_buffer_alloc(&ctx->buffer, bytes, reason);
	if (error) {
		kfree(ctx);
		return ERR_PTR(error);
	}
	ctx->task = get_task_struct(task);
	ctx->owner = get_task_pid(current, PIDTYPE_TGID);
	ctx->control = ds_cpu_control(select);
	ctx->cpu = -1;
	return ctx;
}

static int first_attach(struct ds_reason *reason)
{
	int error;

	error = ds_peace_claim(reason);
	if (error)
		return error;
	error = ds_switch_hook();
	if (error) {
		ds_peace_release();
		return ds_refuse(reason, error, "the scheduler's tracepoints refuse a probe");
	}
	return 0;
}

static void last_detach(void)
{
	ds_switch_unhook();
	ds_peace_release();
}

static int check_free(struct task_struct *task, struct ds_reason *reason)
{
	struct ds_context *holder;
	int error = 0;

	rcu_read_lock();
	holder = ds_table_find(task);
	if (holder)
		error = ds_refuse(reason, -EBUSY,
				  "thread %d is traced already, by process %d: one tracer a thread",
				  pid_vnr(task_pid(task)), pid_vnr(holder->owner));
	rcu_read_unlock();
	return error;
}

/**
 * ds_context_attach() - make a context its task's
 * @ctx: of ds_context_create()
 * @reason: says what was refused
 *
 * Context: process, sleeps.
 * Return: 0, -EBUSY if the task has a context or the Debug Store another driver,
 * -ESRCH if the task is exiting.
 */
int ds_context_attach(struct ds_context *ctx, struct ds_reason *reason)
{
	int error;

	mutex_lock(&attach_mutex);
	error = check_free(ctx->task, reason);
	if (error)
		goto unlock;
	if (READ_ONCE(ctx->task->flags) & PF_EXITING) {
		error = ds_refuse(reason, -ESRCH, "the thread is exiting");
		goto unlock;
	}
	if (!attached) {
		error = first_attach(reason);
		if (error)
			goto unlock;
	}
	attached++;
	ds_table_add(ctx);
unlock:
	mutex_unlock(&attach_mutex);
	return error;
}

static void detach(struct ds_context *ctx)
{
	bool last;

	mutex_lock(&attach_mutex);
	ds_table_remove(ctx);
	last = !--attached;
	if (last)
		last_detach();
	mutex_unlock(&attach_mutex);
	/* a probe may have found it before; taking the probes off has waited for that */
	if (!last)
		synchronize_rcu();
}

/**
 * ds_context_destroy() - stop, detach and free a context
 * @ctx: attached or not
 *
 * Context: process, sleeps.
 */
void ds_context_destroy(struct ds_context *ctx)
{
	ds_context_stop(ctx);
	if (!hlist_unhashed(&ctx->node))
		detach(ctx);
	ds_buffer_free(&ctx->buffer);
	put_pid(ctx->owner);
	put_task_struct(ctx->task);
	kfree(ctx);
}

static void set_recording(struct ds_context *ctx)
{
	WRITE_ONCE(ctx->recording, true);
	ds_switch_kick(ctx);
}

static void clear_recording(struct ds_context *ctx)
{
	WRITE_ONCE(ctx->recording, false);
	ds_switch_evict(ctx);
}

/**
 * ds_context_start() - record from now on
 * @ctx: attached
 *
 * Here and in the following, the caller keeps the calls for one context apart.
 * When it returns, a task that runs is being recorded.
 *
 * Context: process, waits for another CPU.
 * Return: 0, -ESRCH if the task is exiting or an exec took the right to trace.
 */
int ds_context_start(struct ds_context *ctx)
{
	if (ds_context_exited(ctx) || ds_context_dropped(ctx))
		return -ESRCH;
	ctx->started = true;
	set_recording(ctx);
	return 0;
}

/**
 * ds_context_stop() - record no more
 * @ctx: the context
 *
 * When it returns, the records stand still.
 *
 * Context: process, waits for another CPU.
 */
void ds_context_stop(struct ds_context *ctx)
{
	ctx->started = false;
	clear_recording(ctx);
}

/**
 * ds_context_pause() - record no more for a moment
 * @ctx: the context
 *
 * When it returns, the records stand still; the context counts as started as it
 * did before.
 *
 * Context: process, waits for another CPU.
 */
void ds_context_pause(struct ds_context *ctx)
{
	clear_recording(ctx);
}

/**
 * ds_context_resume() - end of ds_context_pause()
 * @ctx: the context
 *
 * Context: process, waits for another CPU.
 */
void ds_context_resume(struct ds_context *ctx)
{
	if (ctx->started)
		set_recording(ctx);
}

/**
 * ds_context_running() - is it started, and is its task still there to be recorded?
 * @ctx: the context
 */
bool ds_context_running(const struct ds_context *ctx)
{
	return ctx->started && !ds_context_dropped(ctx) && !ds_context_exited(ctx);
}

/**
 * ds_context_exited() - is the task dead or dying?
 * @ctx: the context
 */
bool ds_context_exited(const struct ds_context *ctx)
{
	return READ_ONCE(ctx->task->flags) & PF_EXITING;
}

/**
 * ds_context_dropped() - did an exec take the right to trace?
 * @ctx: the context
 */
bool ds_context_dropped(const struct ds_context *ctx)
{
	return READ_ONCE(ctx->dropped);
}

/**
 * ds_context_usage() - figures
 * @ctx: the context
 * @usage: gets them
 */
void ds_context_usage(const struct ds_context *ctx, struct ds_usage *usage)
{
	usage->buffer_bytes = ctx->buffer.bytes;
	usage->charged_bytes = ctx->buffer.payer ? ctx->buffer.bytes : 0;
	usage->switches = READ_ONCE(ctx->switches);
}

/**
 * ds_init() - find out what the machine can do, and see that it does
 * @reason: says why not
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int ds_init(struct ds_reason *reason)
{
	int error;

	error = ds_cpu_detect(reason);
	if (error)
		return error;
	error = ds_switch_init(reason);
	if (error)
		return error;
	error = ds_peace_claim(reason);
	if (error)
		return error;
	error = ds_proof(reason);
	ds_peace_release();
	if (error)
		ds_alias_exit();
	return error;
}

/**
 * ds_exit() - end of ds_init()
 *
 * No context is left. Context: process, sleeps.
 */
void ds_exit(void)
{
	ds_alias_exit();
}
