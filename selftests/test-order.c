// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order and count across a wrap: a program of 100,000 branches, each of which can
 * be computed, and buffers that hold a part of them, or all.
 */
#include <kselftest_harness.h>
#include <sys/ioctl.h>

#include "truth.h"

FIXTURE(order)
{
	struct truth truth;
	struct history history;
	struct debugstore_status status;
	int tracer;
};

FIXTURE_VARIANT(order)
{
	__u64 buffer_bytes;
	bool wraps;
};

FIXTURE_VARIANT_ADD(order, one_page){
	.buffer_bytes = 4096,
	.wraps = true,
};

FIXTURE_VARIANT_ADD(order, three_pages){
	.buffer_bytes = 3 * 4096,
	.wraps = true,
};

FIXTURE_VARIANT_ADD(order, a_mebibyte){
	.buffer_bytes = 1 << 20,
	.wraps = true,
};

FIXTURE_VARIANT_ADD(order, all_of_it){
	.buffer_bytes = 4 << 20,
};

FIXTURE_SETUP(order)
{
	const struct program program = { .name = "prog-states" };

	ASSERT_EQ(0, states_compute(&self->truth));

	int dev = device_open();
	pid_t pid = program_start(&program);

	ASSERT_GE(dev, 0);
	ASSERT_GT(pid, 0);
	self->tracer = tracer_open(dev, pid, DEBUGSTORE_USER, variant->buffer_bytes);
	ASSERT_GE(self->tracer, 0);
	ASSERT_EQ(0, tracer_start(self->tracer));
	ASSERT_EQ(0, program_release(pid));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, tracer_status(self->tracer, &self->status));
	ASSERT_EQ(0, history_read(self->tracer, &self->history));
}

FIXTURE_TEARDOWN(order)
{
	close(self->tracer);
	history_free(&self->history);
	truth_free(&self->truth);
}

TEST_F(order, capacity_is_what_fits)
{
	EXPECT_EQ(variant->buffer_bytes, self->status.buffer_bytes);
	EXPECT_EQ(variant->buffer_bytes / HARDWARE_RECORD_BYTES, self->status.capacity);
	EXPECT_EQ(self->status.records, self->history.held);
	EXPECT_EQ(self->history.held, self->history.count);
	if (variant->wraps) {
		EXPECT_EQ(self->status.capacity, self->history.held);
	} else {
		EXPECT_GT(self->status.capacity, self->history.held);
	}
	EXPECT_EQ(variant->wraps ? DEBUGSTORE_WRAPPED : 0,
		  self->history.state & DEBUGSTORE_WRAPPED);
	EXPECT_EQ(variant->wraps ? DEBUGSTORE_WRAPPED : 0, self->status.state & DEBUGSTORE_WRAPPED);
}

TEST_F(order, the_newest_in_order)
{
	/* The first turn is the way out of execve; what wrapped has lost it. */
	size_t branches = history_branches(&self->history);
	size_t first = variant->wraps ? self->truth.count - branches : 0;

	ASSERT_LE(branches, self->truth.count);
	EXPECT_EQ(0,
		  truth_compare(&self->truth, first, self->history.records, self->history.count));
	TH_LOG("%llu records, %zu of them branches of the program", self->history.count, branches);
}

TEST_F(order, a_short_read_gets_the_newest)
{
	const __u64 some = 100;
	struct debugstore_record records[some];
	struct debugstore_read read = {
		.size = sizeof(read),
		.records = (uintptr_t)records,
		.max = some,
	};

	ASSERT_EQ(0, ioctl(self->tracer, DEBUGSTORE_IOC_READ, &read));
	EXPECT_EQ(some, read.count);
	EXPECT_EQ(self->history.held, read.held);
	EXPECT_EQ(0, memcmp(records, self->history.records + self->history.count - some,
			    sizeof(records)));
}

TEST_HARNESS_MAIN
