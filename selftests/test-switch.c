// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that come and go: two traced ones that take turns on a CPU, one that moves
 * from CPU to CPU, and one that nobody traces and nobody must see.
 */
#include <fcntl.h>
#include <kselftest_harness.h>

#include "programs.h"
#include "truth.h"

#define BUFFER_BYTES (4 << 20)

struct traced {
	struct truth truth;
	pid_t pid;
	int tracer;
};

FIXTURE(switches)
{
	int dev;
	int there[2];
	int back[2];
	struct traced tasks[2];
};

FIXTURE_SETUP(switches)
{
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	ASSERT_EQ(0, pin_to_cpu(0, 0));
	ASSERT_EQ(0, pipe2(self->there, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(self->back, O_CLOEXEC));
}

FIXTURE_TEARDOWN(switches)
{
	for (size_t i = 0; i < ARRAY_SIZE(self->tasks); i++)
		truth_free(&self->tasks[i].truth);
}

/* The truth of one that never waits: all it will read is there already. */
static int find_truth(struct traced *task, const char *name)
{
	const char bytes[PINGPONG_ROUNDS] = {};
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -1;
	if (write(in[1], bytes, sizeof(bytes)) != sizeof(bytes))
		return -1;
	const struct program program = { .name = name, .in = in[0], .out = out[1] };
	int err = truth_step(&program, &task->truth);

	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	return err;
}

/* Both ends of both pipes stay open here: nobody gets an end of file. */
static int prepare(FIXTURE_DATA(switches) *self, struct traced *task, const char *name, int in,
		   int out)
{
	const struct program program = { .name = name, .in = in, .out = out };

	task->pid = program_start(&program);
	if (task->pid < 0)
		return -ECHILD;
	task->tracer = tracer_open(self->dev, task->pid, DEBUGSTORE_USER, BUFFER_BYTES);
	return task->tracer < 0 ? task->tracer : tracer_start(task->tracer);
}

static int compare(const struct traced *task)
{
	struct history history;
	int err = history_read(task->tracer, &history);

	if (err)
		return err;
	err = truth_compare(&task->truth, 0, history.records, history.count);
	history_free(&history);
	return err;
}

TEST_F_TIMEOUT(switches, two_traced_on_one_cpu, 600)
{
	struct traced *a = &self->tasks[0], *b = &self->tasks[1];
	struct debugstore_status status;

	ASSERT_EQ(0, find_truth(a, "prog-pingpong"));
	ASSERT_EQ(0, find_truth(b, "prog-pingpong-2"));
	ASSERT_EQ(0, prepare(self, a, "prog-pingpong", self->there[0], self->back[1]));
	ASSERT_EQ(0, prepare(self, b, "prog-pingpong-2", self->back[0], self->there[1]));
	ASSERT_EQ(0, program_release(a->pid));
	ASSERT_EQ(0, program_release(b->pid));
	ASSERT_EQ(1, write(self->there[1], "", 1));
	ASSERT_TRUE(exited_well(program_wait(a->pid)));
	ASSERT_TRUE(exited_well(program_wait(b->pid)));
	for (size_t i = 0; i < ARRAY_SIZE(self->tasks); i++) {
		EXPECT_EQ(0, compare(&self->tasks[i]));
		ASSERT_EQ(0, tracer_status(self->tasks[i].tracer, &status));
		/* Each had to wait for the other every round. */
		EXPECT_GE(status.switches, PINGPONG_ROUNDS);
	}
}

TEST_F_TIMEOUT(switches, an_untraced_neighbour, 600)
{
	const struct program neighbour = {
		.name = "prog-pingpong-3",
		.in = self->back[0],
		.out = self->there[1],
	};
	struct traced *a = &self->tasks[0];
	struct debugstore_status status;

	ASSERT_EQ(0, find_truth(a, "prog-pingpong"));
	ASSERT_EQ(0, prepare(self, a, "prog-pingpong", self->there[0], self->back[1]));

	pid_t pid = program_start(&neighbour);

	ASSERT_GT(pid, 0);
	ASSERT_EQ(0, program_release(pid));
	ASSERT_EQ(0, program_release(a->pid));
	ASSERT_EQ(1, write(self->there[1], "", 1));
	ASSERT_TRUE(exited_well(program_wait(a->pid)));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	EXPECT_EQ(0, compare(a));
	ASSERT_EQ(0, tracer_status(a->tracer, &status));
	EXPECT_GE(status.switches, PINGPONG_ROUNDS);
}

/* It wakes on another CPU every round. */
TEST_F_TIMEOUT(switches, one_that_migrates_asleep, 600)
{
	struct traced *a = &self->tasks[0];
	char byte;
	unsigned int cpus = cpus_online();

	if (cpus < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, find_truth(a, "prog-pingpong"));
	ASSERT_EQ(0, prepare(self, a, "prog-pingpong", self->there[0], self->back[1]));
	ASSERT_EQ(0, program_release(a->pid));
	for (unsigned int i = 0; i < PINGPONG_ROUNDS; i++) {
		ASSERT_EQ(0, pin_to_cpu(a->pid, i % cpus));
		ASSERT_EQ(1, write(self->there[1], "", 1));
		ASSERT_EQ(1, read(self->back[0], &byte, 1));
	}
	ASSERT_TRUE(exited_well(program_wait(a->pid)));
	EXPECT_EQ(0, compare(a));
}

/* It is taken off its CPU wherever it happens to be. */
static int migrate_until_dead(pid_t pid, unsigned int *moves_ret)
{
	unsigned int cpus = cpus_online();
	int status;
	pid_t done;

	do {
		/* It may be dead by now. */
		pin_to_cpu(pid, ++*moves_ret % cpus);
		done = waitpid(pid, &status, WNOHANG);
	} while (!done);
	return done == pid && exited_well(status) ? 0 : -1;
}

TEST_F_TIMEOUT(switches, one_that_migrates_running, 600)
{
	struct traced *a = &self->tasks[0];
	unsigned int moves = 0, switches = 0;
	struct debugstore_status status;

	if (cpus_online() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, states_compute(&a->truth));
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, prepare(self, a, "prog-states", 0, 0));
		ASSERT_EQ(0, program_release(a->pid));
		ASSERT_EQ(0, migrate_until_dead(a->pid, &moves));
		EXPECT_EQ(0, compare(a));
		ASSERT_EQ(0, tracer_status(a->tracer, &status));
		switches += status.switches;
		close(a->tracer);
	}
	TH_LOG("%u moves, %u switches", moves, switches);
}

/* Two on two CPUs, or sharing the only one. */
TEST_F_TIMEOUT(switches, two_at_once, 600)
{
	for (size_t i = 0; i < ARRAY_SIZE(self->tasks); i++) {
		struct traced *task = &self->tasks[i];

		ASSERT_EQ(0, states_compute(&task->truth));
		ASSERT_EQ(0, prepare(self, task, "prog-states", 0, 0));
		ASSERT_EQ(0, pin_to_cpu(task->pid, i % cpus_online()));
	}
	for (size_t i = 0; i < ARRAY_SIZE(self->tasks); i++) {
		ASSERT_EQ(0, program_release(self->tasks[i].pid));
	}
	for (size_t i = 0; i < ARRAY_SIZE(self->tasks); i++) {
		ASSERT_TRUE(exited_well(program_wait(self->tasks[i].pid)));
		EXPECT_EQ(0, compare(&self->tasks[i]));
	}
}

TEST_HARNESS_MAIN
