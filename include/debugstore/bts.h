/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bts: tracers of branches, on top of ds.
 *
 * A tracer is shown what it asked for and may see. bts looks at nobody's rights:
 * the caller says what the tracer may see.
 */
#ifndef _DEBUGSTORE_BTS_H
#define _DEBUGSTORE_BTS_H

#include <linux/types.h>
#include <debugstore/ds.h>
#include <uapi/debugstore.h>

struct bts_tracer;

/**
 * struct bts_request - what a tracer is to record
 * @task: of this task
 * @flags: DEBUGSTORE_USER, DEBUGSTORE_KERNEL or both
 * @buffer_bytes: size of the circular buffer, in bytes
 * @see_kernel: it may see kernel addresses
 */
struct bts_request {
	struct task_struct *task;
	u64 flags;
	u64 buffer_bytes;
	bool see_kernel;
};

u64 bts_flags(void);

struct bts_tracer *bts_create(const struct bts_request *request, struct ds_reason *reason);
int bts_attach(struct bts_tracer *tracer, struct ds_reason *reason);
void bts_close(struct bts_tracer *tracer);

int bts_start(struct bts_tracer *tracer);
int bts_stop(struct bts_tracer *tracer);
int bts_status(struct bts_tracer *tracer, struct debugstore_status *status);

int bts_read_begin(struct bts_tracer *tracer, struct ds_view *view, u32 *state);
void bts_read(struct bts_tracer *tracer, const struct ds_view *view, u64 first,
	      struct debugstore_record *records, unsigned int count);
void bts_read_end(struct bts_tracer *tracer);

#endif /* _DEBUGSTORE_BTS_H */
