// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends that come early: of the tracer, of the task, of both. The last tests look at
 * what is left of them.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "truth.h"

#define PROGRAM	    "prog-states"
#define SMALL_BYTES (64 << 10)
#define BIG_BYTES   (32 << 20)

static int start_traced(int dev, __u64 bytes, pid_t *pid_ret)
{
	const struct program program = { .name = PROGRAM };
	pid_t pid = program_start(&program);

	if (pid < 0)
		return -ECHILD;
	int tracer = tracer_open(dev, pid, DEBUGSTORE_USER, bytes);

	if (tracer < 0)
		return tracer;
	*pid_ret = pid;
	int err = tracer_start(tracer) ?: program_release(pid);

	return err ?: tracer;
}

TEST(closed_while_the_program_runs)
{
	int dev = device_open();

	ASSERT_GE(dev, 0);
	for (int i = 0; i < 20; i++) {
		struct debugstore_status status;
		pid_t pid;
		int tracer = start_traced(dev, SMALL_BYTES, &pid);

		ASSERT_GE(tracer, 0);
		/* Until it has come some way. */
		do {
			ASSERT_EQ(0, tracer_status(tracer, &status));
		} while (status.records < (unsigned int)i * 50 &&
			 !(status.state & DEBUGSTORE_EXITED));
		close(tracer);
		EXPECT_TRUE(exited_well(program_wait(pid)));
	}
}

TEST(the_program_killed_while_it_is_read)
{
	int dev = device_open();

	ASSERT_GE(dev, 0);
	for (int i = 0; i < 10; i++) {
		struct history history = {};
		pid_t pid;
		int tracer = start_traced(dev, BIG_BYTES, &pid);
		pid_t killer = fork();

		ASSERT_GE(tracer, 0);
		if (!killer)
			_exit(kill(pid, SIGKILL) ? 1 : 0);
		do {
			history_free(&history);
			ASSERT_EQ(0, history_read(tracer, &history));
		} while (!(history.state & DEBUGSTORE_EXITED));
		program_wait(killer);
		program_wait(pid);
		history_free(&history);
		close(tracer);
	}
}

/* Killed at no moment in particular: after so many reads as it tells. */
TEST(the_reader_killed_while_it_reads)
{
	for (int i = 0; i < 10; i++) {
		int progress[2];
		char byte;

		ASSERT_EQ(0, pipe(progress));

		pid_t reader = fork();

		if (!reader) {
			struct history history;
			pid_t pid;
			int tracer = start_traced(device_open(), BIG_BYTES, &pid);

			if (tracer < 0)
				_exit(1);
			program_wait(pid);
			for (;;) {
				if (write(progress[1], "", 1) != 1)
					_exit(1);
				if (history_read(tracer, &history))
					_exit(1);
				history_free(&history);
			}
		}
		close(progress[1]);
		for (int reads = 0; reads <= i % 4; reads++) {
			ASSERT_EQ(1, read(progress[0], &byte, 1));
		}
		ASSERT_EQ(0, kill(reader, SIGKILL));

		int status = program_wait(reader);

		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		close(progress[0]);
	}
}

struct reading {
	int tracer;
	int last; /* what the last read said */
};

static void *read_until_closed(void *argument)
{
	struct reading *reading = argument;
	struct history history;

	while (!(reading->last = history_read(reading->tracer, &history)))
		history_free(&history);
	return NULL;
}

TEST(closed_by_another_thread_while_it_is_read)
{
	int dev = device_open();

	ASSERT_GE(dev, 0);
	for (int i = 0; i < 20; i++) {
		struct reading reading = {};
		pthread_t thread;
		pid_t pid;

		reading.tracer = start_traced(dev, BIG_BYTES, &pid);
		ASSERT_GE(reading.tracer, 0);
		ASSERT_EQ(0, pthread_create(&thread, NULL, read_until_closed, &reading));
		if (i % 2) {
			program_wait(pid);
		}
		close(reading.tracer);
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(-EBADF, reading.last);
		if (!(i % 2)) {
			program_wait(pid);
		}
	}
}

/* Both ends at once, and nobody says goodbye. */
TEST(the_tracer_killed_while_the_program_runs)
{
	for (int i = 0; i < 20; i++) {
		int ready[2];
		char byte;

		ASSERT_EQ(0, pipe(ready));

		pid_t tracing = fork();

		if (!tracing) {
			pid_t pid;
			int tracer = start_traced(device_open(), SMALL_BYTES, &pid);

			if (tracer >= 0 && write(ready[1], "", 1) == 1)
				pause();
			_exit(1);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		ASSERT_EQ(0, kill(tracing, SIGKILL));
		program_wait(tracing);
		close(ready[0]);
	}
}

TEST(tracing_oneself_to_the_end)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			int tracer = tracer_open(device_open(), 0, DEBUGSTORE_USER, SMALL_BYTES);

			if (tracer < 0 || tracer_start(tracer))
				_exit(1);
			if (i % 2)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		int status = program_wait(pid);

		if (i % 2) {
			EXPECT_TRUE(WIFSIGNALED(status));
		} else {
			EXPECT_TRUE(exited_well(status));
		}
	}
}

/* As a user, who would run out of RLIMIT_MEMLOCK. */
TEST(nothing_stays_charged_after_a_kill)
{
	const struct rlimit limit = { SMALL_BYTES * 3 / 2, SMALL_BYTES * 3 / 2 };
	const struct rlimit no_limit = { 1 << 30, 1 << 30 };

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &no_limit));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, become_user(USER_UID));
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (!pid) {
			pid_t traced;
			int tracer = start_traced(device_open(), SMALL_BYTES, &traced);

			if (tracer < 0)
				_exit(1);
			kill(getpid(), SIGKILL);
		}
		int status = program_wait(pid);

		ASSERT_TRUE(WIFSIGNALED(status));
	}
}

TEST(the_module_stays_while_it_is_used)
{
	pid_t pid = sleeper_start();
	int dev = device_open();
	int tracer;

	ASSERT_GE(dev, 0);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	tracer = tracer_open(dev, pid, DEBUGSTORE_USER, SMALL_BYTES);
	ASSERT_GE(tracer, 0);
	close(dev);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	ASSERT_EQ(0, tracer_start(tracer));
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	child_kill(pid);
	EXPECT_EQ(-EWOULDBLOCK, module_unload());
	close(tracer);
	ASSERT_EQ(0, module_unload());
	EXPECT_EQ(-ENOENT, device_open());
	EXPECT_EQ(0, module_load());
}

TEST_HARNESS_MAIN
