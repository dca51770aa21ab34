// SPDX-License-Identifier: GPL-2.0-only
/* Two CPUs trace at the same time, each into a buffer of its own. */
#include "machine.h"

const char image[] = "processors";

#define BRANCHES 200000
#define ROOM	 1000

static u8 areas[2][64] __attribute__((aligned(64)));
static u8 *const buffers[2] = { (u8 *)BIG_BUFFERS, (u8 *)BIG_BUFFERS + 0x100000 };
static u32 ready, done;

static void meet(u32 *count, u32 target)
{
	__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(count, __ATOMIC_SEQ_CST) < target)
		asm volatile("pause");
}

/* CPU 0 takes a loop's branches; CPU 1 the jumps, over and over. */
static void trace(unsigned int cpu)
{
	ds_prepare(areas[cpu], buffers[cpu], ROOM, 1);
	meet(&ready, 2);
	if (cpu) {
		for (u64 i = 0; i < BRANCHES / JUMPS; i++)
			jumps_traced(DEBUGCTL_ON);
	} else {
		loop_traced(DEBUGCTL_ON, BRANCHES + 1);
	}
	meet(&done, 2);
}

void run_other(void)
{
	trace(1);
}

static bool index_is(unsigned int cpu, u64 records)
{
	return ds_get(areas[cpu], DS_INDEX) ==
	       ds_get(areas[cpu], DS_BASE) + records * record_size();
}

void run_tests(void)
{
	u64 loops = (uintptr_t)traced_loop, jumps = (uintptr_t)traced_jumps;
	bool ok = true;

	start_other();
	trace(0);
	report(index_is(0, BRANCHES % ROOM) && index_is(1, BRANCHES % ROOM),
	       "each CPU has stored all of its own");
	for (u64 i = 0; i < ROOM; i++) {
		struct branch record = ds_record(buffers[0], i);

		ok &= record.from == loops && record.to == loops && !record.cpl;
	}
	report(ok, "CPU 0's buffer has CPU 0's branches");
	ok = true;
	for (u64 i = 0; i < ROOM; i++) {
		struct branch record = ds_record(buffers[1], i);
		u64 from = jumps + 2 * (i % JUMPS);

		ok &= record.from == from && record.to == from + 2 && !record.cpl;
	}
	report(ok, "CPU 1's buffer has CPU 1's branches, in order");
}
