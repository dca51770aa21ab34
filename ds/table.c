// SPDX-License-Identifier: GPL-2.0-only
/* Contexts by task, found in the switch without a lock. */

#include <linux/hash.h>
#include <linux/rculist.h>
#include "internal.h"

#define TABLE_BITS	8

static struct hlist_head table[1 << TABLE_BITS];

static struct hlist_head *bucket(const struct task_struct *task)
{
	return &table[hash_ptr(task, TABLE_BITS)];
}

/**
 * ds_table_find() - the context of a task
 * @task: the task
 *
 * A context holds its task, so an address names one task only.
 *
 * Context: under rcu_read_lock(), or with preemption off; any, NMI included.
 * Return: the context, good until the end of the RCU section, or NULL.
 */
struct ds_context *ds_table_find(const struct task_struct *task)
{
	struct ds_context *ctx;

	hlist_for_each_entry_rcu(ctx, bucket(task), node)
		if (ctx->task == task)
			return ctx;
	return NULL;
}

/**
 * ds_table_add() - let the switch find a context
 * @ctx: its task has none yet
 *
 * Context: the caller keeps adding and removing apart.
 */
void ds_table_add(struct ds_context *ctx)
{
	hlist_add_head_rcu(&ctx->node, bucket(ctx->task));
}

/**
 * ds_table_remove() - let the switch find a context no more
 * @ctx: in the table; whoever found it may still look at it for an RCU grace period
 *
 * Context: the caller keeps adding and removing apart.
 */
void ds_table_remove(struct ds_context *ctx)
{
	hlist_del_rcu(&ctx->node);
}
