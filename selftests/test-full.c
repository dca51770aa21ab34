// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine does at the end of a BTS buffer, with BTINT and without. On CPU 0,
 * and without the module.
 */
#include <kselftest_harness.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>

#include "lib.h"

#define MSR_DEBUGCTL	    0x1d9
#define MSR_DS_AREA	    0x600
#define DEBUGCTL_TR	    (1U << 6)
#define DEBUGCTL_BTS	    (1U << 7)
#define DEBUGCTL_BTINT	    (1U << 8)
#define DEBUGCTL_BTS_OFF_OS (1U << 9)

#define PAGE_BYTES 4096
#define RECORDS	   10
#define BRANCHES   1000

struct record {
	__u64 from;
	__u64 to;
	__u64 flags;
};

struct area {
	__u64 bts_base;
	__u64 bts_index;
	__u64 bts_maximum;
	__u64 bts_threshold;
	__u64 pebs[12];
	struct record records[RECORDS + 1];
};

FIXTURE(full)
{
	struct area *area;
};

FIXTURE_SETUP(full)
{
	const struct sched_param first = { .sched_priority = 1 };
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	struct area *area = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	ASSERT_NE(MAP_FAILED, area);
	ASSERT_EQ(0, mlock(area, PAGE_BYTES));
	/* No other task's page tables have the area. */
	ASSERT_EQ(0, pin_to_cpu(0, 0));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &first));
	area->bts_base = (uintptr_t)area->records;
	area->bts_index = area->bts_base;
	area->bts_maximum = (uintptr_t)(area->records + RECORDS) + 1;
	area->bts_threshold = (uintptr_t)(area->records + RECORDS / 2);
	self->area = area;
}

FIXTURE_TEARDOWN(full)
{
	EXPECT_EQ(0, msr_write(0, MSR_DS_AREA, 0));
}

static int trace_some_branches(struct area *area, __u64 interrupts)
{
	const __u64 bits = DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTS_OFF_OS | interrupts;
	int err = msr_write(0, MSR_DS_AREA, (uintptr_t)area) ?: msr_write(0, MSR_DEBUGCTL, bits);

	for (volatile int i = 0; i < BRANCHES; i++)
		;
	return err ?: msr_write(0, MSR_DEBUGCTL, 0);
}

TEST_F(full, stops_at_the_maximum)
{
	ASSERT_EQ(0, trace_some_branches(self->area, DEBUGCTL_BTINT));
	EXPECT_EQ((uintptr_t)(self->area->records + RECORDS), self->area->bts_index);
	/* The oldest is the return from the MSR's write. */
	EXPECT_TRUE(is_kernel(self->area->records[0].from));
	EXPECT_NE(0, self->area->records[RECORDS - 1].from);
	EXPECT_EQ(0, self->area->records[RECORDS].from);
}

TEST_F(full, goes_on_when_there_is_room_again)
{
	ASSERT_EQ(0, trace_some_branches(self->area, DEBUGCTL_BTINT));
	memset(self->area->records, 0, sizeof(self->area->records));
	self->area->bts_index = self->area->bts_base;
	ASSERT_EQ(0, trace_some_branches(self->area, DEBUGCTL_BTINT));
	EXPECT_EQ((uintptr_t)(self->area->records + RECORDS), self->area->bts_index);
	EXPECT_TRUE(is_kernel(self->area->records[0].from));
}

TEST_F(full, starts_again_without_the_interrupt)
{
	ASSERT_EQ(0, trace_some_branches(self->area, 0));
	EXPECT_LT(self->area->bts_index, (uintptr_t)(self->area->records + RECORDS));
	for (int i = 0; i < RECORDS; i++)
		EXPECT_FALSE(is_kernel(self->area->records[i].from) &&
			     is_kernel(self->area->records[i].to));
	EXPECT_EQ(0, self->area->records[RECORDS].from);
}

TEST_HARNESS_MAIN
