// SPDX-License-Identifier: GPL-2.0-only
/*
 * A whole program's history, record by record, against the same program stepped
 * one instruction at a time. DEBUGSTORE_BREAK=1 breaks a record on the way: the
 * tests must then fail.
 */
#include <kselftest_harness.h>

#include "truth.h"

#define BUFFER_BYTES	(8 << 20)
#define NEEDED_BRANCHES 300

FIXTURE(truth)
{
	struct truth truth;
	struct history history;
};

FIXTURE_VARIANT(truth)
{
	const char *program;
	uid_t uid;
};

FIXTURE_VARIANT_ADD(truth, branches){
	.program = "prog-branches",
};

FIXTURE_VARIANT_ADD(truth, libc){
	.program = "prog-libc",
};

FIXTURE_VARIANT_ADD(truth, branches_of_a_user){
	.program = "prog-branches",
	.uid = USER_UID,
};

FIXTURE_SETUP(truth)
{
	const struct program program = { .name = variant->program };

	ASSERT_EQ(0, pin_to_cpu(0, 0));
	if (variant->uid) {
		ASSERT_EQ(0, become_user(variant->uid));
	}
	ASSERT_EQ(0, truth_step(&program, &self->truth));

	int dev = device_open();
	pid_t pid = program_start(&program);

	ASSERT_GE(dev, 0);
	ASSERT_GT(pid, 0);
	/* The smallest that an ordinary user may lock, and it is enough. */
	int tracer = tracer_open(dev, pid, DEBUGSTORE_USER, variant->uid ? 64 << 10 : BUFFER_BYTES);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, program_release(pid));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, history_read(tracer, &self->history));
}

FIXTURE_TEARDOWN(truth)
{
	history_free(&self->history);
	truth_free(&self->truth);
}

static void break_one(struct history *history)
{
	size_t i = history->count / 2;

	while (from_kernel(&history->records[i]))
		i++;
	history->records[i].to ^= 1;
}

TEST_F_TIMEOUT(truth, is_recorded, 600)
{
	struct debugstore_record *records = self->history.records;

	ASSERT_GT(truth_branches(&self->truth), NEEDED_BRANCHES);
	ASSERT_EQ(self->history.held, self->history.count);
	EXPECT_EQ(DEBUGSTORE_EXITED,
		  self->history.state & (DEBUGSTORE_EXITED | DEBUGSTORE_WRAPPED));
	if (getenv("DEBUGSTORE_BREAK"))
		break_one(&self->history);
	EXPECT_EQ(truth_branches(&self->truth), history_branches(&self->history));
	EXPECT_EQ(0, truth_compare(&self->truth, 0, records, self->history.count));
	TH_LOG("%s: %zu steps, %zu branches, %llu records", variant->program, self->truth.steps,
	       truth_branches(&self->truth), self->history.count);
}

TEST_HARNESS_MAIN
