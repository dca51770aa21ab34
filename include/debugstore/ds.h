/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ds: the owner of the Debug Store.
 *
 * Everything above ds works with contexts and never touches an MSR. A context is
 * one task's DS area and buffer. The CPU writes it while the task runs.
 */
#ifndef _DEBUGSTORE_DS_H
#define _DEBUGSTORE_DS_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct pid;
struct task_struct;
struct ds_context;

/* Which branches, by the privilege level after the branch. */
#define DS_USER		BIT(0)
#define DS_KERNEL	BIT(1)

/**
 * struct ds_reason - why something was refused, for people to read
 * @text: one sentence: what was wrong, and what would be right
 */
struct ds_reason {
	char text[160];
};

__printf(3, 4)
int ds_refuse(struct ds_reason *reason, int error, const char *format, ...);

/**
 * struct ds_branch - a branch as the CPU recorded it
 * @from: linear address of the branch instruction
 * @to: linear address of its destination
 * @predicted: the CPU had predicted it
 */
struct ds_branch {
	u64 from;
	u64 to;
	bool predicted;
};

/**
 * struct ds_view - the records of a stopped context, oldest first
 * @count: records there are
 * @capacity: records the buffer has room for
 * @first: slot of the oldest
 * @wrapped: the buffer filled up, older records gave way
 */
struct ds_view {
	u64 count;
	u64 capacity;
	u64 first;
	bool wrapped;
};

/**
 * struct ds_usage - figures of a context
 * @buffer_bytes: size of its buffer
 * @charged_bytes: charged against RLIMIT_MEMLOCK
 * @switches: times it was loaded into a CPU
 */
struct ds_usage {
	u64 buffer_bytes;
	u64 charged_bytes;
	u64 switches;
};

int ds_init(struct ds_reason *reason);
void ds_exit(void);

bool ds_can_select(unsigned int select);
u64 ds_min_bytes(void);
u64 ds_max_bytes(void);

struct ds_context *ds_context_create(struct task_struct *task, unsigned int select, u64 bytes,
				     struct ds_reason *reason);
int ds_context_attach(struct ds_context *ctx, struct ds_reason *reason);
void ds_context_destroy(struct ds_context *ctx);

int ds_context_start(struct ds_context *ctx);
void ds_context_stop(struct ds_context *ctx);
void ds_context_pause(struct ds_context *ctx);
void ds_context_resume(struct ds_context *ctx);
bool ds_context_running(const struct ds_context *ctx);
bool ds_context_exited(const struct ds_context *ctx);
bool ds_context_dropped(const struct ds_context *ctx);

void ds_context_usage(const struct ds_context *ctx, struct ds_usage *usage);
void ds_context_view(const struct ds_context *ctx, struct ds_view *view);
void ds_context_branch(const struct ds_context *ctx, const struct ds_view *view, u64 n,
		       struct ds_branch *branch);

#endif /* _DEBUGSTORE_DS_H */
