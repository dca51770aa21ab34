// SPDX-License-Identifier: GPL-2.0-only
/* Memory that the CPU stores into, and who pays for it. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include "internal.h"

/**
 * ds_min_bytes() - the smallest buffer
 */
u64 ds_min_bytes(void)
{
	return PAGE_SIZE;
}

/**
 * ds_max_bytes() - the largest buffer: half the machine's memory, at most 512 MiB
 */
u64 ds_max_bytes(void)
{
	return min_t(u64, SZ_512M, (u64)(totalram_pages() / 2) << PAGE_SHIFT);
}

/*
 * As io_uring does: one account a user, which a fork does not evade. The credentials
 * hold the user; free_uid() is not exported by every 6.1.
 */
static int charge(struct ds_buffer *buffer, struct ds_reason *reason)
{
	unsigned long pages = buffer->bytes >> PAGE_SHIFT;
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	atomic_long_t *account = &current_user()->locked_vm;
	long used;

	if (capable(CAP_IPC_LOCK))
		return 0;

	used = atomic_long_read(account);
	do {
		if (used + pages > limit)
			return ds_refuse(reason, -ENOMEM,
					 "a buffer of %llu KiB asked, %llu KiB left of RLIMIT_MEMLOCK's %llu KiB: ask for less or raise it (ulimit -l)",
					 buffer->bytes >> 10,
					 (u64)(limit - min_t(unsigned long, used, limit)) <<
						(PAGE_SHIFT - 10),
					 (u64)limit << (PAGE_SHIFT - 10));
	} while (!atomic_long_try_cmpxchg(account, &used, used + pages));
	buffer->payer = get_current_cred();
	return 0;
}

static void uncharge(struct ds_buffer *buffer)
{
	if (!buffer->payer)
		return;
	atomic_long_sub(buffer->bytes >> PAGE_SHIFT, &buffer->payer->user->locked_vm);
	put_cred(buffer->payer);
	buffer->payer = NULL;
}

static int no_memory(const struct ds_buffer *buffer, struct ds_reason *reason)
{
	return ds_refuse(reason, -ENOMEM, "no memory for a buffer of %llu KiB",
			 buffer->bytes >> 10);
}

/**
 * ds_buffer_alloc() - make an empty circular buffer and its DS area
 * @buffer: gets it
 * @bytes: size wanted, rounded up to whole pages
 * @reason: says what was refused
 *
 * Charged to current's user. vmalloc's page tables are the same in the kernel's half
 * of every address space, and its mappings have the accessed and dirty bits set, as the
 * SDM asks; for user mode's tables see alias.c.
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL for a size that cannot be, -ENOMEM.
 */
int ds_buffer_alloc(struct ds_buffer *buffer, u64 bytes, struct ds_reason *reason)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct ds_area *area;
	int error;

	if (bytes < ds_min_bytes() || bytes > ds_max_bytes())
		return ds_refuse(reason, -EINVAL,
				 "a buffer of %llu bytes asked: it can be from %llu to %llu",
				 bytes, ds_min_bytes(), ds_max_bytes());

	buffer->bytes = PAGE_ALIGN(bytes);
	buffer->capacity = div_u64(buffer->bytes, sizeof(struct ds_record));
	error = charge(buffer, reason);
	if (error)
		return error;

	area = (struct ds_area *)get_zeroed_page(gfp);
	if (!area) {
		error = no_memory(buffer, reason);
		goto uncharge;
	}
	/* RETRY_MAYFAIL: rather no history than an OOM kill */
	buffer->records = __vmalloc(buffer->bytes, gfp | __GFP_RETRY_MAYFAIL);
	if (!buffer->records) {
		error = no_memory(buffer, reason);
		goto free_area;
	}
	error = ds_alias_map(&buffer->alias, area, buffer->records, buffer->bytes, reason);
	if (error)
		goto free_records;

	buffer->records[buffer->capacity - 1].from = DS_NEVER_WRITTEN;
	area->bts_buffer_base = buffer->alias.rest;
	area->bts_index = area->bts_buffer_base;
	/* the SDM: "a multiple of the BTS record size plus 1" */
	area->bts_absolute_maximum = area->bts_buffer_base +
				     buffer->capacity * sizeof(struct ds_record) + 1;
	/* and for a circular buffer the threshold above the maximum */
	area->bts_interrupt_threshold = area->bts_absolute_maximum + sizeof(struct ds_record);
	buffer->area = area;
	return 0;

free_records:
	vfree(buffer->records);
free_area:
	free_page((unsigned long)area);
uncharge:
	uncharge(buffer);
	return error;
}

/**
 * ds_buffer_free() - give memory and charge back
 * @buffer: of ds_buffer_alloc(); no CPU has it loaded
 *
 * Context: process.
 */
void ds_buffer_free(struct ds_buffer *buffer)
{
	ds_alias_unmap(&buffer->alias);
	vfree(buffer->records);
	free_page((unsigned long)buffer->area);
	uncharge(buffer);
}
