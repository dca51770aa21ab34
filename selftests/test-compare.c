// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison itself, which must find what is wrong: no module, no Debug Store.
 * The history is made from the truth, and then broken.
 */
#include <kselftest_harness.h>

#include "truth.h"

#define HIDDEN(where)                                          \
	{                                                      \
		.to = (where), .flags = DEBUGSTORE_FROM_HIDDEN \
	}

FIXTURE(compare)
{
	struct truth truth;
	struct debugstore_record *records;
	size_t count;
	size_t branch; /* one in the middle */
};

FIXTURE_SETUP(compare)
{
	const struct program program = { .name = "prog-branches" };

	ASSERT_EQ(0, truth_step(&program, &self->truth));
	self->count = self->truth.count;
	self->records = calloc(self->count + 1, sizeof(*self->records));
	ASSERT_NE(NULL, self->records);
	for (size_t i = 0; i < self->count; i++) {
		const struct turn *turn = &self->truth.turns[i];

		self->records[i] = (struct debugstore_record){
			.from = turn->kernel ? 0 : turn->from,
			.to = turn->to,
			.flags = turn->kernel ? DEBUGSTORE_FROM_HIDDEN : 0,
		};
	}
	self->branch = self->count / 2;
	while (self->truth.turns[self->branch].kernel || self->truth.turns[self->branch + 1].kernel)
		self->branch++;
}

FIXTURE_TEARDOWN(compare)
{
	free(self->records);
	truth_free(&self->truth);
}

static int compare(FIXTURE_DATA(compare) *self)
{
	return truth_compare(&self->truth, 0, self->records, self->count);
}

static void drop(FIXTURE_DATA(compare) *self, size_t i)
{
	memmove(&self->records[i], &self->records[i + 1],
		(--self->count - i) * sizeof(*self->records));
}

static void insert(FIXTURE_DATA(compare) *self, size_t i, struct debugstore_record record)
{
	memmove(&self->records[i + 1], &self->records[i],
		(self->count++ - i) * sizeof(*self->records));
	self->records[i] = record;
}

/* The program goes through the kernel on its own account only in these. */
static size_t kernel_turn(FIXTURE_DATA(compare) *self)
{
	size_t i = 1;

	while (!self->truth.turns[i].kernel)
		i++;
	return i;
}

TEST_F(compare, accepts_the_truth)
{
	EXPECT_EQ(0, compare(self));
}

TEST_F(compare, finds_a_bit_of_to)
{
	self->records[self->branch].to ^= 1;
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_bit_of_from)
{
	self->records[self->branch].from ^= 1ULL << 20;
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_missing_branch)
{
	drop(self, self->branch);
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_missing_first_and_last)
{
	struct debugstore_record last = self->records[self->count - 1];

	self->count--;
	EXPECT_EQ(-1, compare(self));
	insert(self, self->count, last);
	EXPECT_EQ(0, compare(self));
	drop(self, 0);
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_missing_return_from_the_kernel)
{
	drop(self, kernel_turn(self));
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_branch_too_many)
{
	insert(self, self->branch, self->records[self->branch]);
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_branch_after_the_end)
{
	insert(self, self->count, self->records[self->branch]);
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_two_swapped)
{
	struct debugstore_record record = self->records[self->branch];

	self->records[self->branch] = self->records[self->branch + 1];
	self->records[self->branch + 1] = record;
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_kernel_address)
{
	self->records[self->branch].to = 0xffffffff81000000;
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_stray_return_from_the_kernel)
{
	const struct turn *turn = &self->truth.turns[self->branch];
	struct debugstore_record back = HIDDEN(turn->from);

	/* To the branch that comes next: an interrupt before it. */
	insert(self, self->branch, back);
	EXPECT_EQ(0, compare(self));
	self->records[self->branch].to = turn->from + 1;
	EXPECT_EQ(-1, compare(self));
	self->records[self->branch].to = self->truth.turns[self->branch - 1].to - 1;
	EXPECT_EQ(-1, compare(self));
}

TEST_F(compare, finds_a_return_into_an_instruction)
{
	/* Some instruction on the way to a branch is longer than a byte. */
	for (size_t i = 1; i < self->truth.count; i++) {
		__u64 from = self->truth.turns[i].from;
		struct debugstore_record back = HIDDEN(from - 1);

		if (self->truth.turns[i].kernel || from <= self->truth.turns[i - 1].to + 1 ||
		    truth_instruction(&self->truth, from - 1)->address)
			continue;
		insert(self, i, back);
		EXPECT_EQ(-1, compare(self));
		return;
	}
	EXPECT_TRUE(false);
}

TEST_HARNESS_MAIN
