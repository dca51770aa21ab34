// SPDX-License-Identifier: GPL-2.0-only
/* Records in the order in which they were made, whatever the CPU's layout. */

#include <linux/math64.h>
#include "internal.h"

/**
 * ds_context_view() - see what was recorded
 * @ctx: the context; of one that is not stopped, the view is a glimpse
 * @view: gets it
 *
 * Context: any.
 */
void ds_context_view(const struct ds_context *ctx, struct ds_view *view)
{
	const struct ds_buffer *buffer = &ctx->buffer;
	u64 slot = div_u64(READ_ONCE(buffer->area->bts_index) - buffer->area->bts_buffer_base,
			   sizeof(struct ds_record));

	view->capacity = buffer->capacity;
	view->wrapped = READ_ONCE(buffer->records[buffer->capacity - 1].from) != DS_NEVER_WRITTEN;
	/* the CPU may wrap after the last record or before the next */
	if (slot >= view->capacity)
		slot = 0;
	view->first = view->wrapped ? slot : 0;
	view->count = view->wrapped ? view->capacity : slot;
}

/**
 * ds_context_branch() - read one record
 * @ctx: the context, stopped
 * @view: its view
 * @n: which, below @view->count; 0 is the oldest
 * @branch: gets it
 *
 * Context: any.
 */
void ds_context_branch(const struct ds_context *ctx, const struct ds_view *view, u64 n,
		       struct ds_branch *branch)
{
	const struct ds_record *record;
	u64 slot = view->first + n;

	if (slot >= view->capacity)
		slot -= view->capacity;
	record = &ctx->buffer.records[slot];
	branch->from = record->from;
	branch->to = record->to;
	branch->predicted = record->flags & DS_RECORD_PREDICTED;
}
