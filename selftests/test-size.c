// SPDX-License-Identifier: GPL-2.0-only
/* Buffers of many sizes, up to what the guest's memory bears. */
#include <kselftest_harness.h>
#include <sys/ioctl.h>

#include "truth.h"

/* Reading takes as much again for the caller's records. */
#define READ_AT_MOST 1000000

FIXTURE(size)
{
	int dev;
};

FIXTURE_VARIANT(size)
{
	__u64 buffer_bytes;
	__u64 rounded;
};

FIXTURE_VARIANT_ADD(size, pages_16){
	.buffer_bytes = 64 << 10,
	.rounded = 64 << 10,
};

FIXTURE_VARIANT_ADD(size, odd){
	.buffer_bytes = (1 << 20) + 1,
	.rounded = (1 << 20) + 4096,
};

FIXTURE_VARIANT_ADD(size, mebibytes_64){
	.buffer_bytes = 64 << 20,
	.rounded = 64 << 20,
};

FIXTURE_VARIANT_ADD(size, mebibytes_200){
	.buffer_bytes = 200 << 20,
	.rounded = 200 << 20,
};

FIXTURE_SETUP(size)
{
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
}

FIXTURE_TEARDOWN(size)
{
	close(self->dev);
}

TEST_F(size, is_had_and_used)
{
	const struct program program = { .name = "prog-states" };
	char why[WHY_BYTES] = "";
	struct debugstore_status status;
	struct truth truth;
	struct debugstore_record *records = calloc(READ_AT_MOST, sizeof(*records));
	struct debugstore_read read = {
		.size = sizeof(read),
		.records = (uintptr_t)records,
		.max = READ_AT_MOST,
	};
	pid_t pid = program_start(&program);
	struct debugstore_open open = {
		.size = sizeof(open),
		.pid = pid,
		.flags = DEBUGSTORE_USER,
		.buffer_bytes = variant->buffer_bytes,
		.why = (uintptr_t)why,
		.why_bytes = sizeof(why),
	};

	ASSERT_NE(NULL, records);
	ASSERT_GT(pid, 0);
	ASSERT_EQ(0, states_compute(&truth));

	int tracer = ioctl(self->dev, DEBUGSTORE_IOC_OPEN, &open);

	ASSERT_GE(tracer, 0);
	EXPECT_EQ(variant->rounded, open.buffer_bytes);
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(variant->rounded, status.buffer_bytes);
	EXPECT_EQ(variant->rounded / HARDWARE_RECORD_BYTES, status.capacity);
	EXPECT_EQ(0, status.charged_bytes); /* root is exempt */
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, program_release(pid));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, ioctl(tracer, DEBUGSTORE_IOC_READ, &read));
	EXPECT_EQ(read.held, read.count);

	struct history history = { .records = records, .count = read.count };
	size_t first =
		read.state & DEBUGSTORE_WRAPPED ? truth.count - history_branches(&history) : 0;

	EXPECT_EQ(0, truth_compare(&truth, first, records, read.count));
	close(tracer);
	truth_free(&truth);
	free(records);
}

TEST_HARNESS_MAIN
