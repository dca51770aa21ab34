// SPDX-License-Identifier: GPL-2.0-only
/* DEBUGSTORE_IOC_READ: nothing is consumed, nothing is lost, whoever reads and however. */
#include <kselftest_harness.h>
#include <sys/ioctl.h>

#include "programs.h"
#include "truth.h"

#define PAGE_BYTES   4096
#define BUFFER_BYTES (64 << 10)

FIXTURE(read)
{
	int dev;
	int tracer;
	struct history history; /* what every later read must give again */
};

FIXTURE_SETUP(read)
{
	const struct program program = { .name = "prog-branches" };
	pid_t pid = program_start(&program);

	ASSERT_GT(pid, 0);
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	self->tracer = tracer_open(self->dev, pid, DEBUGSTORE_USER, BUFFER_BYTES);
	ASSERT_GE(self->tracer, 0);
	ASSERT_EQ(0, tracer_start(self->tracer));
	ASSERT_EQ(0, program_release(pid));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, history_read(self->tracer, &self->history));
	/* More than a page of them, or the tests below test nothing. */
	ASSERT_GT(self->history.count, 2 * PAGE_BYTES / sizeof(struct debugstore_record));
}

FIXTURE_TEARDOWN(read)
{
	history_free(&self->history);
	close(self->tracer);
	close(self->dev);
}

static int read_into(int tracer, void *records, __u64 max, struct debugstore_read *read_ret)
{
	*read_ret = (struct debugstore_read){
		.size = sizeof(*read_ret),
		.records = (uintptr_t)records,
		.max = max,
	};
	return ioctl(tracer, DEBUGSTORE_IOC_READ, read_ret) ? -errno : 0;
}

static bool reads_the_same(FIXTURE_DATA(read) *self)
{
	struct history again;

	if (history_read(self->tracer, &again))
		return false;
	bool same =
		again.count == self->history.count && again.held == self->history.held &&
		!memcmp(again.records, self->history.records, again.count * sizeof(*again.records));

	history_free(&again);
	return same;
}

TEST_F(read, twice_is_the_same)
{
	EXPECT_TRUE(reads_the_same(self));
	EXPECT_TRUE(reads_the_same(self));
}

TEST_F(read, a_bad_pointer_half_way_loses_nothing)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	struct debugstore_read read;

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE));
	EXPECT_EQ(-EFAULT, read_into(self->tracer, pages, self->history.count, &read));
	EXPECT_TRUE(reads_the_same(self));
	/* Unaligned, in the middle of a record. */
	EXPECT_EQ(-EFAULT, read_into(self->tracer, pages + 3, self->history.count, &read));
	EXPECT_TRUE(reads_the_same(self));
	ASSERT_EQ(0, mprotect(pages, PAGE_BYTES, PROT_READ));
	EXPECT_EQ(-EFAULT, read_into(self->tracer, pages, 1, &read));
	EXPECT_TRUE(reads_the_same(self));
}

TEST_F(read, bad_pointers)
{
	void *pointers[] = { NULL, (void *)0xffff800000000000, (void *)-24, (void *)(1UL << 63) };
	struct debugstore_read read;

	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		EXPECT_EQ(-EFAULT, read_into(self->tracer, pointers[i], 10, &read));
		EXPECT_TRUE(reads_the_same(self));
	}
}

/* So many that their bytes overflow; there is room for what is held. */
TEST_F(read, a_huge_max)
{
	struct debugstore_record *records = calloc(self->history.count, sizeof(*records));
	const __u64 maxima[] = { -1ULL, 1ULL << 63, (1ULL << 63) / 3, -1ULL / 24 + 1 };
	struct debugstore_read read;

	ASSERT_NE(NULL, records);
	for (size_t i = 0; i < ARRAY_SIZE(maxima); i++) {
		EXPECT_EQ(0, read_into(self->tracer, records, maxima[i], &read));
		EXPECT_EQ(self->history.count, read.count);
		EXPECT_EQ(0, memcmp(records, self->history.records,
				    self->history.count * sizeof(*records)));
	}
	free(records);
}

TEST_F(read, none)
{
	struct debugstore_read read;

	EXPECT_EQ(0, read_into(self->tracer, NULL, 0, &read));
	EXPECT_EQ(0, read.count);
	EXPECT_EQ(self->history.held, read.held);
	EXPECT_EQ(DEBUGSTORE_EXITED, read.state & DEBUGSTORE_EXITED);
	EXPECT_TRUE(reads_the_same(self));
}

TEST_F(read, the_newest_and_not_a_byte_more)
{
	struct debugstore_record *records = malloc(self->history.count * sizeof(*records));
	struct debugstore_read read;

	ASSERT_NE(NULL, records);
	for (__u64 max = 1; max < self->history.count; max = max * 3 + 1) {
		const struct debugstore_record *newest =
			self->history.records + self->history.count - max;

		memset(records, 0x55, self->history.count * sizeof(*records));
		ASSERT_EQ(0, read_into(self->tracer, records, max, &read));
		EXPECT_EQ(max, read.count);
		EXPECT_EQ(self->history.held, read.held);
		EXPECT_EQ(0, memcmp(records, newest, max * sizeof(*records)));
		EXPECT_EQ(0x5555555555555555, records[max].from);
	}
	free(records);
}

TEST_F(read, by_another_process)
{
	pid_t pid = fork();

	if (!pid)
		_exit(reads_the_same(self) ? 0 : 1);
	ASSERT_GT(pid, 0);
	EXPECT_TRUE(exited_well(program_wait(pid)));
	EXPECT_TRUE(reads_the_same(self));
}

/* A descriptor carries its rights along, and they do not grow. */
TEST_F(read, by_another_user)
{
	pid_t pid = fork();

	if (!pid)
		_exit(!become_user(USER_UID) && reads_the_same(self) ? 0 : 1);
	ASSERT_GT(pid, 0);
	EXPECT_TRUE(exited_well(program_wait(pid)));
}

TEST_F(read, records_are_clean)
{
	for (size_t i = 0; i < self->history.count; i++) {
		const struct debugstore_record *record = &self->history.records[i];

		ASSERT_EQ(DEBUGSTORE_BRANCH, record->type);
		ASSERT_EQ(0, record->flags & ~(DEBUGSTORE_FROM_HIDDEN | DEBUGSTORE_TO_HIDDEN |
					       DEBUGSTORE_PREDICTED));
	}
}

static int tell(const char *what)
{
	fprintf(stderr, "# %s\n", what);
	return -1;
}

/* Whether the program's branches from @turn on are those from @i on, @window of them. */
static bool goes_on(const struct truth *truth, size_t turn, const struct history *history, size_t i,
		    size_t window)
{
	while (window && i < history->count) {
		const struct debugstore_record *record = &history->records[i++];

		if (from_kernel(record))
			continue;
		if (turn == truth->count)
			return false;
		const struct turn *next = &truth->turns[turn++];

		if (record->from != next->from || record->to != next->to)
			return false;
		window--;
	}
	return true;
}

/*
 * The parts of a program that was read while it ran: a part may be missing for each
 * read, as it is not recorded meanwhile; nothing is out of order or made up.
 */
static int compare_parts(const struct truth *truth, const struct history *history, size_t reads)
{
	size_t turn = 1, gaps = 0;

	for (size_t i = 0; i < history->count; i++) {
		size_t window = 32, found = turn;

		if (from_kernel(&history->records[i]))
			continue;
		while (!goes_on(truth, found, history, i, 1)) {
			/* Four bits a state: few states could be anywhere. */
			do {
				found++;
			} while (found < truth->count &&
				 !goes_on(truth, found, history, i, window));
			if (found < truth->count)
				break;
			found = turn;
			window /= 2;
			if (!window)
				return tell("a record that the program did not make");
		}
		gaps += found != turn;
		turn = found + 1;
	}
	return gaps > reads ? tell("more gaps than reads") : 0;
}

TEST_F_TIMEOUT(read, a_running_program, 600)
{
	const struct program program = { .name = "prog-states" };
	size_t reads = 0, in_the_middle = 0;
	struct truth truth;
	int status;

	ASSERT_EQ(0, states_compute(&truth));
	for (int i = 0; i < 5; i++) {
		pid_t pid = program_start(&program), done;
		int tracer = tracer_open(self->dev, pid, DEBUGSTORE_USER, 4 << 20);
		size_t before = reads;

		ASSERT_GE(tracer, 0);
		ASSERT_EQ(0, tracer_start(tracer));
		ASSERT_EQ(0, program_release(pid));
		do {
			struct history history;

			done = waitpid(pid, &status, WNOHANG);
			ASSERT_EQ(0, history_read(tracer, &history));
			reads++;
			in_the_middle += history.count && !done;
			EXPECT_EQ(0, compare_parts(&truth, &history, reads - before));
			history_free(&history);
		} while (!done);
		EXPECT_TRUE(done == pid && exited_well(status));
		close(tracer);
	}
	TH_LOG("%zu reads, %zu of them in the middle", reads, in_the_middle);
	truth_free(&truth);
}

/* Until the task waits in the kernel; it has nothing else to sleep for. */
static bool wait_until_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *stat = fopen(path, "r");

		if (!stat)
			return false;
		if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = 'X';
		fclose(stat);
		if (state == 'X' || state == 'Z')
			return false;
	}
	return true;
}

/* How many turns come before the task goes through the kernel for the nth time. */
static size_t turns_before(const struct truth *truth, size_t nth)
{
	size_t i = 0;

	while (i < truth->count && (!truth->turns[i].kernel || nth--))
		i++;
	return i;
}

/* While it waits for us, nothing is lost: each read is what it did so far, all of it. */
TEST_F_TIMEOUT(read, a_waiting_program, 600)
{
	char bytes[PINGPONG_ROUNDS] = {};
	struct history history;
	struct truth truth;
	int there[2], back[2];

	ASSERT_EQ(0, pipe(there));
	ASSERT_EQ(0, pipe(back));

	const struct program program = { .name = "prog-pingpong", .in = there[0], .out = back[1] };

	ASSERT_EQ(PINGPONG_ROUNDS, write(there[1], bytes, PINGPONG_ROUNDS));
	ASSERT_EQ(0, truth_step(&program, &truth));
	ASSERT_EQ(PINGPONG_ROUNDS, read(back[0], bytes, PINGPONG_ROUNDS));

	pid_t pid = program_start(&program);
	int tracer = tracer_open(self->dev, pid, DEBUGSTORE_USER, 1 << 20);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, program_release(pid));
	for (size_t round = 0; round < PINGPONG_ROUNDS; round++) {
		struct truth part = truth;

		/* It has come from execve and, every round, from a read and a write. */
		part.count = turns_before(&truth, 1 + 2 * round);
		part.end = truth.turns[part.count].from;
		ASSERT_TRUE(wait_until_asleep(pid));
		ASSERT_EQ(0, history_read(tracer, &history));
		ASSERT_EQ(0, truth_compare(&part, 0, history.records, history.count));
		history_free(&history);
		ASSERT_EQ(1, write(there[1], bytes, 1));
		ASSERT_EQ(1, read(back[0], bytes, 1));
	}
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, history_read(tracer, &history));
	EXPECT_EQ(0, truth_compare(&truth, 0, history.records, history.count));
	history_free(&history);
	truth_free(&truth);
	close(tracer);
}

TEST_F(read, stopped_and_started)
{
	struct debugstore_status status;
	volatile int sum = 0;
	__u64 records;
	int tracer = tracer_open(self->dev, 0, DEBUGSTORE_USER, 1 << 20);

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_start(tracer));
	for (int i = 0; i < 1000; i++)
		sum += i;
	ASSERT_EQ(0, tracer_stop(tracer));
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(0, status.state & DEBUGSTORE_RUNNING);
	EXPECT_GE(status.records, 1000);
	records = status.records;
	for (int i = 0; i < 1000; i++)
		sum += i;
	ASSERT_EQ(0, tracer_stop(tracer));
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(records, status.records);
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, tracer_start(tracer));
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(DEBUGSTORE_RUNNING, status.state & DEBUGSTORE_RUNNING);
	for (int i = 0; i < 1000; i++)
		sum += i;
	ASSERT_EQ(0, tracer_stop(tracer));
	ASSERT_EQ(0, tracer_status(tracer, &status));
	/* Kept, and gone on with. */
	EXPECT_GE(status.records, records + 1000);
	close(tracer);
}

TEST_HARNESS_MAIN
