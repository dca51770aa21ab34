// SPDX-License-Identifier: GPL-2.0-only
/* What a tracer's buffer costs its opener, and when it is given back. */
#include <ctype.h>
#include <kselftest_harness.h>
#include <sys/resource.h>

#include "lib.h"

#define LIMIT_BYTES (256 << 10)
#define MOST_BYTES  (160 << 10) /* once, not twice */
#define ROUNDS	    1000

FIXTURE(memlock)
{
	int dev;
	pid_t pids[2];
	pid_t roots;
};

FIXTURE_SETUP(memlock)
{
	const struct rlimit limit = { LIMIT_BYTES, LIMIT_BYTES };

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	/* The first tracer and the last take their time: have one throughout. */
	self->roots = sleeper_start();
	ASSERT_GE(tracer_open(device_open(), self->roots, DEBUGSTORE_USER, 4096), 0);
}

FIXTURE_TEARDOWN(memlock)
{
	for (size_t i = 0; i < ARRAY_SIZE(self->pids); i++)
		child_kill(self->pids[i]);
	close(self->dev);
}

static int prepare(FIXTURE_DATA(memlock) *self, uid_t uid)
{
	int err = uid ? become_user(uid) : 0;

	self->dev = device_open();
	for (size_t i = 0; i < ARRAY_SIZE(self->pids); i++)
		self->pids[i] = sleeper_start();
	return err ?: self->dev < 0 ? self->dev : 0;
}

static int trace(FIXTURE_DATA(memlock) *self, size_t task, __u64 bytes, char *why)
{
	return tracer_try(self->dev, self->pids[task], DEBUGSTORE_USER, bytes, why);
}

/* In bytes or in KiB, as the sentence likes. */
static bool names_number(const char *why, unsigned long bytes)
{
	while (*why) {
		char *end;

		if (!isdigit(*why)) {
			why++;
			continue;
		}
		unsigned long number = strtoul(why, &end, 10);

		if (number == bytes || number == bytes >> 10)
			return true;
		why = end;
	}
	return false;
}

TEST_F(memlock, refuses_what_exceeds_it)
{
	char why[WHY_BYTES] = "";
	struct debugstore_status status;

	ASSERT_EQ(0, prepare(self, USER_UID));

	int first = trace(self, 0, MOST_BYTES, why);

	ASSERT_GE(first, 0);
	ASSERT_EQ(0, tracer_status(first, &status));
	EXPECT_EQ(MOST_BYTES, status.charged_bytes);
	EXPECT_EQ(-ENOMEM, trace(self, 1, MOST_BYTES - 4096, why));
	TH_LOG("it says: %s", why);
	EXPECT_TRUE(names_number(why, MOST_BYTES - 4096));
	EXPECT_TRUE(names_number(why, LIMIT_BYTES - MOST_BYTES));
	EXPECT_TRUE(names_number(why, LIMIT_BYTES));
	/* The rest, to the last page. */
	EXPECT_EQ(-ENOMEM, trace(self, 1, LIMIT_BYTES - MOST_BYTES + 1, NULL));
	EXPECT_GE(trace(self, 1, LIMIT_BYTES - MOST_BYTES, NULL), 0);
}

TEST_F(memlock, is_of_the_user_not_of_the_process)
{
	ASSERT_EQ(0, prepare(self, USER_UID));

	int tracer = trace(self, 0, MOST_BYTES, NULL);

	ASSERT_GE(tracer, 0);

	pid_t pid = fork();

	if (!pid)
		_exit(trace(self, 1, MOST_BYTES, NULL) == -ENOMEM ? 0 : 1);
	EXPECT_TRUE(exited_well(program_wait(pid)));
}

TEST_F_TIMEOUT(memlock, is_given_back_at_close, 600)
{
	ASSERT_EQ(0, prepare(self, USER_UID));
	for (int i = 0; i < ROUNDS; i++) {
		int tracer = trace(self, 0, MOST_BYTES, NULL);

		ASSERT_GE(tracer, 0);
		if (i % 2) {
			ASSERT_EQ(0, tracer_start(tracer));
		}
		close(tracer);
	}
}

/* The charge is the opener's to have until the last descriptor is closed. */
TEST_F(memlock, is_given_back_to_whom_it_was_taken_from)
{
	ASSERT_EQ(0, prepare(self, USER_UID));

	int tracer = trace(self, 0, MOST_BYTES, NULL);
	int again = dup(tracer);

	ASSERT_GE(again, 0);
	close(tracer);
	EXPECT_EQ(-ENOMEM, trace(self, 1, MOST_BYTES, NULL));
	close(again);
	EXPECT_GE(trace(self, 1, MOST_BYTES, NULL), 0);
}

/* A refused request costs nothing. */
TEST_F(memlock, a_failure_is_not_charged)
{
	ASSERT_EQ(0, prepare(self, USER_UID));
	for (int i = 0; i < 100; i++) {
		EXPECT_EQ(-ENOMEM, trace(self, 0, LIMIT_BYTES + 4096, NULL));
		EXPECT_EQ(-EACCES, tracer_try(self->dev, 1, DEBUGSTORE_USER, MOST_BYTES, NULL));
		EXPECT_EQ(-EPERM, tracer_try(self->dev, self->pids[0], DEBUGSTORE_KERNEL,
					     MOST_BYTES, NULL));
	}
	EXPECT_GE(trace(self, 0, MOST_BYTES, NULL), 0);
}

TEST_F(memlock, spares_root)
{
	struct debugstore_status status;

	ASSERT_EQ(0, prepare(self, 0));

	int tracer = trace(self, 0, LIMIT_BYTES * 4, NULL);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(0, status.charged_bytes);
}

TEST_HARNESS_MAIN
