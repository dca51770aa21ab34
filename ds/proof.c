// SPDX-License-Identifier: GPL-2.0-only
/* CPUs and hypervisors announce what they do not do: see that records arrive. */

#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/string.h>
#include "internal.h"

struct proof {
	struct ds_buffer buffer;
	u64 from;
	u64 to;
};

static void record_one_branch(void *data)
{
	struct proof *proof = data;
	unsigned long flags;
	unsigned long from, to;

	local_irq_save(flags);
	ds_msr_on(&proof->buffer, ds_cpu_control(DS_USER | DS_KERNEL));
	asm volatile("1: jmp 2f\n"
		     "   nop\n"
		     "2: lea 1b(%%rip), %0\n"
		     "   lea 2b(%%rip), %1\n"
		     : "=r" (from), "=r" (to) : : "memory");
	ds_msr_off();
	wrmsrq(MSR_IA32_DS_AREA, 0);
	local_irq_restore(flags);
	proof->from = from;
	proof->to = to;
}

/* An NMI may have added records of its own, so look at all of them. */
static bool recorded(const struct proof *proof)
{
	const struct ds_record *record = proof->buffer.records;
	u64 i;

	for (i = 0; i < proof->buffer.capacity; i++)
		if (record[i].from == proof->from && record[i].to == proof->to)
			return true;
	return false;
}

/**
 * ds_proof() - let every CPU that is online record a branch
 * @reason: says which one failed
 *
 * Context: process, sleeps; the Debug Store is ours (ds_peace_claim()).
 * Return: 0, -EIO if a CPU wrote no record, or what the allocation failed with.
 */
int ds_proof(struct ds_reason *reason)
{
	struct proof proof = {};
	int cpu, error;

	error = ds_buffer_alloc(&proof.buffer, ds_min_bytes(), reason);
	if (error)
		return error;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		proof.buffer.area->bts_index = proof.buffer.area->bts_buffer_base;
		memset(proof.buffer.records, 0, proof.buffer.bytes);
		error = smp_call_function_single(cpu, record_one_branch, &proof, 1);
		if (!error && !recorded(&proof))
			error = ds_refuse(reason, -EIO,
					  "CPU %d announces Branch Trace Store, but wrote no record",
					  cpu);
		if (error)
			break;
	}
	cpus_read_unlock();

	ds_buffer_free(&proof.buffer);
	return error;
}
