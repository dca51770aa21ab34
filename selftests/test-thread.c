// SPDX-License-Identifier: GPL-2.0-only
/* A tracer is one thread's: not its process's, nor its children's. */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "lib.h"

#define BUFFER_BYTES (1 << 20)
#define ROUNDS	     5000

/* Each runs one of these, so that a record tells whose it is. */
#define LOOP(name)                                                                         \
	static __attribute__((noinline, noclone)) void name(void)                          \
	{                                                                                  \
		unsigned int rounds = ROUNDS;                                              \
		asm volatile(#name "_start: dec %0; jnz " #name "_start; " #name "_end:\n" \
			     : "+r"(rounds)::"cc");                                        \
	}                                                                                  \
	extern const char name##_start[], name##_end[]

LOOP(ours);
LOOP(theirs);

struct other {
	int to[2];
	int back[2];
	pid_t tid;
};

static int other_open(struct other *other)
{
	return pipe(other->to) || pipe(other->back) ? -errno : 0;
}

/* Says which thread it is, waits, loops. */
static void *other_run(void *argument)
{
	struct other *other = argument;
	char byte = 0;

	other->tid = syscall(SYS_gettid);
	if (write(other->back[1], &byte, 1) == 1 && read(other->to[0], &byte, 1) == 1)
		theirs();
	return NULL;
}

static int other_wait(struct other *other)
{
	char byte;

	return read(other->back[0], &byte, 1) == 1 ? 0 : -EIO;
}

static int other_go(struct other *other)
{
	return write(other->to[1], "", 1) == 1 ? 0 : -EIO;
}

/* How many branches the tracer has of the loop from @start to @end. */
static long count(int tracer, const char *start, const char *end)
{
	struct history history;
	long found = 0;

	if (tracer_stop(tracer) || history_read(tracer, &history))
		return -1;
	for (size_t i = 0; i < history.count; i++) {
		const struct debugstore_record *record = &history.records[i];

		found += record->from >= (uintptr_t)start && record->from < (uintptr_t)end;
	}
	history_free(&history);
	return found;
}

TEST(another_thread_is_not_recorded)
{
	struct other other;
	pthread_t thread;

	ASSERT_EQ(0, other_open(&other));
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_run, &other));
	ASSERT_EQ(0, other_wait(&other));

	int tracer = tracer_open(device_open(), 0, DEBUGSTORE_USER, BUFFER_BYTES);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, other_go(&other));
	ours();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* The last round does not jump. */
	EXPECT_EQ(ROUNDS - 1, count(tracer, ours_start, ours_end));
	EXPECT_EQ(0, count(tracer, theirs_start, theirs_end));
}

TEST(another_thread_is_recorded_if_asked_for)
{
	struct debugstore_status status;
	struct other other;
	pthread_t thread;

	ASSERT_EQ(0, other_open(&other));
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_run, &other));
	ASSERT_EQ(0, other_wait(&other));

	int tracer = tracer_open(device_open(), other.tid, DEBUGSTORE_USER, BUFFER_BYTES);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, other_go(&other));
	ours();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, count(tracer, ours_start, ours_end));
	EXPECT_EQ(ROUNDS - 1, count(tracer, theirs_start, theirs_end));
	/* The thread is gone, its process is not. */
	do {
		ASSERT_EQ(0, tracer_status(tracer, &status));
	} while (!(status.state & DEBUGSTORE_EXITED));
}

TEST(a_child_is_not_recorded)
{
	int tracer = tracer_open(device_open(), 0, DEBUGSTORE_USER, BUFFER_BYTES);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));

	pid_t pid = fork();

	if (!pid) {
		theirs();
		_exit(0);
	}
	ours();
	ASSERT_TRUE(exited_well(program_wait(pid)));
	EXPECT_EQ(ROUNDS - 1, count(tracer, ours_start, ours_end));
	EXPECT_EQ(0, count(tracer, theirs_start, theirs_end));
}

TEST_HARNESS_MAIN
