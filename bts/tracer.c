// SPDX-License-Identifier: GPL-2.0-only
/* Tracers: what was asked for, and what may be seen of it. */

#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <debugstore/bts.h>

/**
 * struct bts_tracer - somebody who wants a task's branches
 * @ctx: the context that records them
 * @mutex: keeps start, stop and read apart
 * @flags: as asked for
 * @see_kernel: kernel addresses are not scrubbed
 */
struct bts_tracer {
	struct ds_context *ctx;
	struct mutex mutex;	/* one start, stop or read at a time */
	u64 flags;
	bool see_kernel;
};

static unsigned int select_of(u64 flags)
{
	return (flags & DEBUGSTORE_USER ? DS_USER : 0) |
	       (flags & DEBUGSTORE_KERNEL ? DS_KERNEL : 0);
}

/**
 * bts_flags() - flags that a request may have on this CPU
 */
u64 bts_flags(void)
{
	return DEBUGSTORE_USER | DEBUGSTORE_KERNEL;
}

static int check_flags(u64 flags, struct ds_reason *reason)
{
	if (!flags || flags & ~bts_flags())
		return ds_refuse(reason, -EINVAL,
				 "flags 0x%llx: they can be user (0x%llx), kernel (0x%llx) or both",
				 flags, DEBUGSTORE_USER, DEBUGSTORE_KERNEL);
	if (!ds_can_select(select_of(flags)))
		return ds_refuse(reason, -EOPNOTSUPP,
				 "this CPU cannot tell user from kernel branches (CPUID.1:ECX.DS_CPL is 0): ask for both");
	return 0;
}

/**
 * bts_create() - make a tracer, which records nothing yet
 * @request: what it is to record
 * @reason: says what was refused
 *
 * Context: process, sleeps. The buffer is charged to current's user.
 * Return: the tracer, for bts_attach() or bts_close(), or an error pointer:
 * -EINVAL, -ENOMEM, -EOPNOTSUPP.
 */
struct bts_tracer *bts_create(const struct bts_request *request, struct ds_reason *reason)
{
	struct bts_tracer *tracer;
	int error;

	error = check_flags(request->flags, reason);
	if (error)
		return ERR_PTR(error);

	tracer = kzalloc(sizeof(*tracer), GFP_KERNEL_ACCOUNT);
	if (!tracer)
		return ERR_PTR(ds_refuse(reason, -ENOMEM, "no memory for a tracer"));
	tracer->ctx = ds_context_create(request->task, select_of(request->flags),
					request->buffer_bytes, reason);
	if (IS_ERR(tracer->ctx)) {
		error = PTR_ERR(tracer->ctx);
		kfree(tracer);
		return ERR_PTR(error);
	}
	mutex_init(&tracer->mutex);
	tracer->flags = request->flags;
	tracer->see_kernel = request->see_kernel;
	return tracer;
}

/**
 * bts_attach() - let a tracer have its task
 * @tracer: of bts_create()
 * @reason: says what was refused
 *
 * Context: process, sleeps.
 * Return: 0, -EBUSY or -ESRCH.
 */
int bts_attach(struct bts_tracer *tracer, struct ds_reason *reason)
{
	return ds_context_attach(tracer->ctx, reason);
}

/**
 * bts_close() - end a tracer
 * @tracer: nobody else's any more
 *
 * Context: process, sleeps.
 */
void bts_close(struct bts_tracer *tracer)
{
	ds_context_destroy(tracer->ctx);
	kfree(tracer);
}

/**
 * bts_start() - record from now on
 * @tracer: the tracer
 *
 * Context: process, sleeps.
 * Return: 0, -ESRCH if the task is dead or was dropped, -EINTR.
 */
int bts_start(struct bts_tracer *tracer)
{
	int error;

	error = mutex_lock_interruptible(&tracer->mutex);
	if (error)
		return error;
	error = ds_context_start(tracer->ctx);
	mutex_unlock(&tracer->mutex);
	return error;
}

/**
 * bts_stop() - record no more
 * @tracer: the tracer
 *
 * Context: process, sleeps.
 * Return: 0 or -EINTR.
 */
int bts_stop(struct bts_tracer *tracer)
{
	int error;

	error = mutex_lock_interruptible(&tracer->mutex);
	if (error)
		return error;
	ds_context_stop(tracer->ctx);
	mutex_unlock(&tracer->mutex);
	return 0;
}

static u32 state_of(const struct ds_context *ctx, const struct ds_view *view)
{
	return (ds_context_running(ctx) ? DEBUGSTORE_RUNNING : 0) |
	       (view->wrapped ? DEBUGSTORE_WRAPPED : 0) |
	       (ds_context_exited(ctx) ? DEBUGSTORE_EXITED : 0) |
	       (ds_context_dropped(ctx) ? DEBUGSTORE_DROPPED : 0);
}

/**
 * bts_status() - how a tracer stands
 * @tracer: the tracer
 * @status: gets it, but for @size
 *
 * Context: process, sleeps.
 * Return: 0 or -EINTR.
 */
int bts_status(struct bts_tracer *tracer, struct debugstore_status *status)
{
	struct ds_usage usage;
	struct ds_view view;
	int error;

	error = mutex_lock_interruptible(&tracer->mutex);
	if (error)
		return error;
	ds_context_usage(tracer->ctx, &usage);
	ds_context_view(tracer->ctx, &view);
	status->state = state_of(tracer->ctx, &view);
	mutex_unlock(&tracer->mutex);

	status->flags = tracer->flags;
	status->buffer_bytes = usage.buffer_bytes;
	status->capacity = view.capacity;
	status->records = view.count;
	status->switches = usage.switches;
	status->charged_bytes = usage.charged_bytes;
	return 0;
}

/**
 * bts_read_begin() - hold the history still
 * @tracer: the tracer
 * @view: gets what there is
 * @state: gets DEBUGSTORE_RUNNING and the others
 *
 * Context: process, sleeps; holds the tracer's mutex until bts_read_end().
 * Return: 0 or -EINTR.
 */
int bts_read_begin(struct bts_tracer *tracer, struct ds_view *view, u32 *state)
{
	int error;

	error = mutex_lock_interruptible(&tracer->mutex);
	if (error)
		return error;
	ds_context_pause(tracer->ctx);
	ds_context_view(tracer->ctx, view);
	*state = state_of(tracer->ctx, view);
	return 0;
}

/* A wild jump's address in between the halves is no kernel address, and wanted. */
static bool is_kernel(u64 address)
{
	return (s64)address < 0;
}

/**
 * bts_read() - copy records, as the tracer may see them
 * @tracer: between bts_read_begin() and bts_read_end()
 * @view: of bts_read_begin()
 * @first: number of the first one; 0 is the oldest
 * @records: where to
 * @count: how many; @first + @count is at most @view->count
 *
 * Context: any.
 */
void bts_read(struct bts_tracer *tracer, const struct ds_view *view, u64 first,
	      struct debugstore_record *records, unsigned int count)
{
	struct debugstore_record *record;
	struct ds_branch branch;

	for (record = records; record < records + count; record++) {
		ds_context_branch(tracer->ctx, view, first++, &branch);
		record->from = branch.from;
		record->to = branch.to;
		record->type = DEBUGSTORE_BRANCH;
		record->flags = branch.predicted ? DEBUGSTORE_PREDICTED : 0;
		if (tracer->see_kernel)
			continue;
		if (is_kernel(branch.from)) {
			record->from = 0;
			record->flags |= DEBUGSTORE_FROM_HIDDEN;
		}
		if (is_kernel(branch.to)) {
			record->to = 0;
			record->flags |= DEBUGSTORE_TO_HIDDEN;
		}
	}
}

/**
 * bts_read_end() - let the history go on, if it went on before
 * @tracer: of bts_read_begin()
 *
 * Context: process, waits for another CPU.
 */
void bts_read_end(struct bts_tracer *tracer)
{
	ds_context_resume(tracer->ctx);
	mutex_unlock(&tracer->mutex);
}
