// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that cannot tell user from kernel branches (no DS_CPL): to be run on one. It
 * records both or none.
 */
#include <kselftest_harness.h>

#include "truth.h"

#define BUFFER_BYTES (32 << 20)

TEST(one_kind_alone_is_refused)
{
	const __u64 kinds[] = { DEBUGSTORE_USER, DEBUGSTORE_KERNEL };
	int dev = device_open();

	ASSERT_GE(dev, 0);
	for (size_t i = 0; i < 2; i++) {
		char why[WHY_BYTES];

		EXPECT_EQ(-EOPNOTSUPP, tracer_try(dev, 0, kinds[i], BUFFER_BYTES, why));
		EXPECT_NE(NULL, strstr(why, "DS_CPL"));
	}
}

/* With the ways into the kernel and within it left out, the program's own remain. */
TEST(both_are_recorded)
{
	const struct program program = { .name = "prog-states" };
	struct history history;
	struct truth truth;
	int dev = device_open();

	ASSERT_GE(dev, 0);
	pid_t pid = program_start(&program);
	int tracer = tracer_open(dev, pid, DEBUGSTORE_USER | DEBUGSTORE_KERNEL, BUFFER_BYTES);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, program_release(pid));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, history_read(tracer, &history));
	ASSERT_EQ(0, states_compute(&truth));

	size_t kept = 0;

	for (size_t i = 0; i < history.count; i++)
		if (!to_kernel(&history.records[i]))
			history.records[kept++] = history.records[i];
	EXPECT_LT(kept, history.count);
	EXPECT_EQ(0, truth_compare(&truth, 0, history.records, kept));
	history_free(&history);
	truth_free(&truth);
}

TEST_HARNESS_MAIN
