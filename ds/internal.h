/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of ds share among themselves. */
#ifndef _DEBUGSTORE_DS_INTERNAL_H
#define _DEBUGSTORE_DS_INTERNAL_H

#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/types.h>
#include <debugstore/ds.h>

struct cred;

/* The DS area with 64-bit fields (SDM volume 3, "DS save area in 64-bit mode"). */
struct ds_area {
	u64 bts_buffer_base;
	u64 bts_index;
	u64 bts_absolute_maximum;
	u64 bts_interrupt_threshold;
	u64 pebs[4];
	u64 pebs_counter_reset[];
};

/* A BTS record with 64-bit fields, as the CPU stores it. */
struct ds_record {
	u64 from;
	u64 to;
	u64 flags;
};

static_assert(sizeof(struct ds_record) == 24);

#define DS_RECORD_PREDICTED	BIT_ULL(4)

/* In @from of the last slot until it is used: no branch has such an address. */
#define DS_NEVER_WRITTEN	BIT_ULL(63)

/**
 * struct ds_alias - where the CPU finds a page, and those after it
 * @first: linear address of the first page
 * @rest: linear address of the second
 * @pages: how many are mapped there; 0 if these are the kernel's own addresses
 */
struct ds_alias {
	unsigned long first;
	unsigned long rest;
	unsigned long pages;
};

void ds_alias_exit(void);
int ds_alias_map(struct ds_alias *alias, void *first, void *rest, u64 bytes,
		 struct ds_reason *reason);
void ds_alias_unmap(struct ds_alias *alias);

/**
 * struct ds_buffer - where the CPU stores, and who pays for it
 * @area: the DS area, a page of its own
 * @records: the BTS buffer, whole pages
 * @alias: where the CPU finds both
 * @capacity: records that fit into it
 * @bytes: its size in bytes
 * @payer: whose user is charged for it, or NULL
 */
struct ds_buffer {
	struct ds_area *area;
	struct ds_record *records;
	struct ds_alias alias;
	u64 capacity;
	u64 bytes;
	const struct cred *payer;
};

int ds_buffer_alloc(struct ds_buffer *buffer, u64 bytes, struct ds_reason *reason);
void ds_buffer_free(struct ds_buffer *buffer);

/**
 * struct ds_context - a traced task
 * @task: the task, held
 * @owner: thread group that opened it, held
 * @buffer: its memory
 * @node: in the table of contexts
 * @control: our bits of IA32_DEBUGCTL while the task runs
 * @started: between ds_context_start() and ds_context_stop(); under the caller's lock
 * @recording: to be loaded when the task runs; not so while paused
 * @dropped: an exec took the right to trace; never loaded again
 * @cpu: the CPU that has it loaded, or -1; written by that CPU
 * @switches: times loaded; written by the loading CPU
 */
struct ds_context {
	struct task_struct *task;
	struct pid *owner;
	struct ds_buffer buffer;
	struct hlist_node node;
	u64 control;
	bool started;
	bool recording;
	bool dropped;
	int cpu;
	u64 switches;
};

/* table.c */
struct ds_context *ds_table_find(const struct task_struct *task);
void ds_table_add(struct ds_context *ctx);
void ds_table_remove(struct ds_context *ctx);

/* switch.c */
int ds_switch_init(struct ds_reason *reason);
int ds_switch_hook(void);
void ds_switch_unhook(void);
void ds_switch_kick(struct ds_context *ctx);
void ds_switch_evict(struct ds_context *ctx);

/* cpu.c */
int ds_cpu_detect(struct ds_reason *reason);
u64 ds_cpu_control(unsigned int select);

/* proof.c */
int ds_proof(struct ds_reason *reason);

/* peace.c */
int ds_peace_claim(struct ds_reason *reason);
void ds_peace_release(void);

/*
 * Our bits of IA32_DEBUGCTL and IA32_DS_AREA. With interrupts off: others modify
 * their bits of IA32_DEBUGCTL in interrupts.
 */
#define DS_CONTROL_MASK	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTS_OFF_OS | \
			 DEBUGCTLMSR_BTS_OFF_USR)

static inline void ds_msr_off(void)
{
	u64 value;

	rdmsrq(MSR_IA32_DEBUGCTLMSR, value);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, value & ~DS_CONTROL_MASK);
}

/* The SDM leaves a change of IA32_DS_AREA under TR undefined: only when off. */
static inline void ds_msr_on(const struct ds_buffer *buffer, u64 control)
{
	u64 value;

	wrmsrq(MSR_IA32_DS_AREA, buffer->alias.first);
	rdmsrq(MSR_IA32_DEBUGCTLMSR, value);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, (value & ~DS_CONTROL_MASK) | control);
}

#endif /* _DEBUGSTORE_DS_INTERNAL_H */
