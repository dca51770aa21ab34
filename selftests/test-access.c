// SPDX-License-Identifier: GPL-2.0-only
/* Who may trace whom. The tests become an ordinary user unless they say otherwise. */
#include <kselftest_harness.h>
#include <sys/prctl.h>

#include "truth.h"

#define BUFFER_BYTES (16 << 10)
#define KTHREADD     2

FIXTURE(access)
{
	int dev; /* opened as the ordinary user */
};

FIXTURE_SETUP(access)
{
	self->dev = -1;
}

FIXTURE_TEARDOWN(access)
{
	close(self->dev);
}

static int be_user(FIXTURE_DATA(access) *self)
{
	int err = become_user(USER_UID);

	if (err)
		return err;
	self->dev = device_open();
	return self->dev < 0 ? self->dev : 0;
}

/* A sentence for people, with an end and more than a word. */
static bool is_sentence(const char *why)
{
	size_t length = strnlen(why, WHY_BYTES);

	return length > 10 && length < WHY_BYTES && strchr(why, ' ');
}

#define EXPECT_REFUSED(errno_, pid_, flags_)                                                   \
	do {                                                                                   \
		char why_[WHY_BYTES] = "";                                                     \
		EXPECT_EQ(-(errno_), tracer_try(self->dev, pid_, flags_, BUFFER_BYTES, why_)); \
		if (!is_sentence(why_))                                                        \
			TH_LOG("no sentence: \"%.160s\"", why_);                               \
		EXPECT_TRUE(is_sentence(why_));                                                \
	} while (0)

TEST_F(access, an_own_child_is_allowed)
{
	pid_t pid;

	ASSERT_EQ(0, be_user(self));
	pid = sleeper_start();
	ASSERT_GT(pid, 0);
	EXPECT_GE(tracer_open(self->dev, pid, DEBUGSTORE_USER, BUFFER_BYTES), 0);
	child_kill(pid);
}

TEST_F(access, oneself_is_allowed)
{
	ASSERT_EQ(0, be_user(self));
	EXPECT_GE(tracer_open(self->dev, 0, DEBUGSTORE_USER, BUFFER_BYTES), 0);
}

TEST_F(access, kernel_branches_are_not)
{
	ASSERT_EQ(0, be_user(self));
	EXPECT_REFUSED(EPERM, 0, DEBUGSTORE_KERNEL);
	EXPECT_REFUSED(EPERM, 0, DEBUGSTORE_USER | DEBUGSTORE_KERNEL);
}

TEST_F(access, another_users_task_is_not)
{
	pid_t roots = sleeper_start(), others = fork();

	if (!others) {
		if (become_user(OTHER_UID))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	ASSERT_GT(roots, 0);
	ASSERT_GT(others, 0);
	ASSERT_EQ(others, waitpid(others, NULL, WUNTRACED));
	ASSERT_EQ(0, be_user(self));
	EXPECT_REFUSED(EACCES, roots, DEBUGSTORE_USER);
	EXPECT_REFUSED(EACCES, others, DEBUGSTORE_USER);
	EXPECT_REFUSED(EACCES, 1, DEBUGSTORE_USER);
}

TEST_F(access, one_that_is_not_dumpable_is_not)
{
	pid_t pid;

	ASSERT_EQ(0, be_user(self));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_DUMPABLE, 0);
		kill(getpid(), SIGSTOP);
		_exit(0);
	}
	ASSERT_GT(pid, 0);
	ASSERT_EQ(pid, waitpid(pid, NULL, WUNTRACED));
	EXPECT_REFUSED(EACCES, pid, DEBUGSTORE_USER);
	child_kill(pid);
}

TEST_F(access, a_kernel_thread_is_not)
{
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	EXPECT_REFUSED(EPERM, KTHREADD, DEBUGSTORE_USER);
	EXPECT_REFUSED(EPERM, KTHREADD, DEBUGSTORE_KERNEL);
	close(self->dev);
	ASSERT_EQ(0, be_user(self));
	EXPECT_REFUSED(EPERM, KTHREADD, DEBUGSTORE_USER);
}

/* The rights are those of who opens the tracer, not of who opened the device. */
TEST_F(access, a_roots_device_gives_no_rights)
{
	pid_t roots = sleeper_start();

	ASSERT_GT(roots, 0);
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	ASSERT_EQ(0, become_user(USER_UID));
	EXPECT_REFUSED(EACCES, roots, DEBUGSTORE_USER);
	EXPECT_REFUSED(EPERM, 0, DEBUGSTORE_KERNEL);
}

static int trace(FIXTURE_DATA(access) *self, const char *name, __u64 flags, __u64 buffer_bytes,
		 struct history *history_ret)
{
	const struct program program = { .name = name };
	pid_t pid = program_start(&program);

	if (pid < 0)
		return -ECHILD;
	int tracer = tracer_open(self->dev, pid, flags, buffer_bytes);

	if (tracer < 0)
		return tracer;
	int err = tracer_start(tracer) ?: program_release(pid);

	if (!err && !exited_well(program_wait(pid)))
		err = -ECHILD;
	err = err ?: history_read(tracer, history_ret);
	close(tracer);
	return err;
}

/* One has syscalls, faults and signals, the other runs long enough for interrupts. */
TEST_F(access, a_user_sees_no_kernel_address)
{
	const char *names[] = { "prog-branches", "prog-states" };
	struct history history;

	ASSERT_EQ(0, be_user(self));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t hidden = 0;

		ASSERT_EQ(0, trace(self, names[i], DEBUGSTORE_USER, BUFFER_BYTES, &history));
		ASSERT_GT(history.count, 0);
		for (size_t j = 0; j < history.count; j++) {
			const struct debugstore_record *record = &history.records[j];

			ASSERT_FALSE(is_kernel(record->from));
			ASSERT_FALSE(is_kernel(record->to));
			/* Nothing is left of what is hidden, and nothing but that is zero. */
			ASSERT_EQ(!record->from, !!(record->flags & DEBUGSTORE_FROM_HIDDEN));
			ASSERT_EQ(0, record->flags & DEBUGSTORE_TO_HIDDEN);
			hidden += !record->from;
		}
		if (!i) {
			EXPECT_GT(hidden, 0);
		}
		history_free(&history);
	}
}

/* Root asks for the kernel's branches and gets them, and none of the user's own. */
TEST_F(access, root_sees_the_kernel)
{
	struct history history;
	size_t entries = 0, within = 0;

	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	ASSERT_EQ(0, trace(self, "prog-branches", DEBUGSTORE_KERNEL, 64 << 20, &history));
	for (size_t i = 0; i < history.count; i++) {
		const struct debugstore_record *record = &history.records[i];

		ASSERT_EQ(0, record->flags & (DEBUGSTORE_FROM_HIDDEN | DEBUGSTORE_TO_HIDDEN));
		ASSERT_TRUE(is_kernel(record->to));
		entries += !is_kernel(record->from);
		within += is_kernel(record->from);
	}
	/* Syscalls and signals come to more than ten entries. */
	EXPECT_GT(entries, 10);
	EXPECT_GT(within, 1000);
	history_free(&history);
}

static size_t next_kernel_turn(const struct truth *truth, size_t turn)
{
	while (turn < truth->count && !truth->turns[turn].kernel)
		turn++;
	return turn;
}

/* Both: each way into the kernel is by an instruction that the program has. */
TEST_F_TIMEOUT(access, root_sees_both, 600)
{
	const struct program program = { .name = "prog-branches" };
	struct truth truth;
	struct history history;
	size_t into = 0, out = 0, users = 0, turn = 1, depth = 1;

	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	ASSERT_EQ(0, truth_step(&program, &truth));
	turn = next_kernel_turn(&truth, turn);
	ASSERT_EQ(0, trace(self, "prog-branches", DEBUGSTORE_USER | DEBUGSTORE_KERNEL, 64 << 20,
			   &history));
	ASSERT_EQ(0, history.state & DEBUGSTORE_WRAPPED);
	for (size_t i = 0; i < history.count; i++) {
		const struct debugstore_record *record = &history.records[i];

		ASSERT_EQ(0, record->flags & (DEBUGSTORE_FROM_HIDDEN | DEBUGSTORE_TO_HIDDEN));
		if (is_kernel(record->to) && !is_kernel(record->from)) {
			/* A jump to nowhere faults where no instruction is. */
			if (record->from) {
				ASSERT_NE(0, truth_instruction(&truth, record->from)->address);
			}
			ASSERT_EQ(0, depth);
			depth = 1;
			into++;
			/* The program's own are among them, in order. */
			if (turn < truth.count && record->from == truth.turns[turn].from)
				turn = next_kernel_turn(&truth, turn + 1);
		} else if (is_kernel(record->from) && !is_kernel(record->to)) {
			ASSERT_EQ(1, depth);
			depth = 0;
			out++;
		} else if (is_kernel(record->from)) {
			ASSERT_EQ(1, depth);
		} else {
			ASSERT_EQ(0, depth);
			users++;
		}
	}
	EXPECT_EQ(truth.count, turn);
	EXPECT_EQ(truth_branches(&truth), users);
	/* The way out of execve has no way in, the way into exit has no way out. */
	EXPECT_EQ(into, out);
	history_free(&history);
	truth_free(&truth);
}

TEST_HARNESS_MAIN
