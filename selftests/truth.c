// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"

#define INSTRUCTION_BITS  17
#define INSTRUCTION_SLOTS (1U << INSTRUCTION_BITS)

struct comparison {
	const struct truth *truth;
	size_t turn; /* the next that must be recorded */
	__u64 at; /* the program is here, or further on in a straight line */
};

int truth_know_instructions(struct truth *truth)
{
	truth->instructions = calloc(INSTRUCTION_SLOTS, sizeof(*truth->instructions));
	return truth->instructions ? 0 : -1;
}

struct instruction *truth_instruction(const struct truth *truth, __u64 address)
{
	struct instruction *table = truth->instructions;
	size_t i = (address * 0x9e3779b97f4a7c15ULL) >> (64 - INSTRUCTION_BITS);

	while (table[i].address && table[i].address != address)
		i = (i + 1) % INSTRUCTION_SLOTS;
	return &table[i];
}

int truth_add(struct truth *truth, __u64 from, __u64 to, bool kernel)
{
	if (truth->count == truth->room) {
		size_t room = truth->room ? truth->room * 2 : 4096;
		struct turn *turns = reallocarray(truth->turns, room, sizeof(*turns));

		if (!turns)
			return -1;
		truth->turns = turns;
		truth->room = room;
	}
	truth->turns[truth->count++] = (struct turn){ from, to, kernel };
	return 0;
}

void truth_free(struct truth *truth)
{
	free(truth->turns);
	free(truth->instructions);
	*truth = (struct truth){};
}

static __attribute__((format(printf, 3, 4))) int
differ(size_t i, const struct debugstore_record *record, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "# record %zu, %#llx -> %#llx: ", i, record->from, record->to);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

static const struct turn *turn_next(const struct comparison *c)
{
	return c->turn < c->truth->count ? &c->truth->turns[c->turn] : NULL;
}

/* A way out of the kernel: the one that comes next, or back from an interrupt or a fault. */
static int compare_return(struct comparison *c, size_t i, const struct debugstore_record *record)
{
	const struct turn *next = turn_next(c);
	__u64 to = record->to, limit = next ? next->from : c->truth->end;

	if (next && next->kernel && to == next->to) {
		c->turn++;
		c->at = to;
		return 0;
	}
	if (to < c->at || to > limit)
		return differ(i, record, "the program was between %#llx and %#llx", c->at, limit);
	if (c->truth->instructions && !truth_instruction(c->truth, to)->address)
		return differ(i, record, "no instruction starts there");
	c->at = to;
	return 0;
}

static int compare_branch(struct comparison *c, size_t i, const struct debugstore_record *record)
{
	const struct turn *next = turn_next(c);

	if (!next)
		return differ(i, record, "the program had made its last branch");
	if (next->kernel)
		return differ(i, record, "the kernel's return to %#llx is missing", next->to);
	if (record->from != next->from || record->to != next->to)
		return differ(i, record, "turn %zu of the program is %#llx -> %#llx", c->turn,
			      next->from, next->to);
	c->turn++;
	c->at = record->to;
	return 0;
}

int truth_compare(const struct truth *truth, size_t first, const struct debugstore_record *records,
		  size_t count)
{
	struct comparison c = {
		.truth = truth,
		.turn = first,
		.at = first ? truth->turns[first - 1].to : truth->turns[0].to,
	};

	for (size_t i = 0; i < count; i++) {
		const struct debugstore_record *record = &records[i];
		int err;

		if (record->type != DEBUGSTORE_BRANCH)
			continue;
		if (to_kernel(record))
			return differ(i, record, "it leads into the kernel");
		err = from_kernel(record) ? compare_return(&c, i, record)
					  : compare_branch(&c, i, record);
		if (err)
			return err;
	}
	const struct turn *missing = turn_next(&c);

	if (!missing)
		return 0;
	fprintf(stderr, "# %zu records: the last %zu of %zu turns are missing, %#llx -> %#llx on\n",
		count, truth->count - c.turn, truth->count, missing->from, missing->to);
	return -1;
}

size_t truth_branches(const struct truth *truth)
{
	size_t branches = 0;

	for (size_t i = 0; i < truth->count; i++)
		branches += !truth->turns[i].kernel;
	return branches;
}

size_t history_branches(const struct history *history)
{
	size_t branches = 0;

	for (size_t i = 0; i < history->count; i++) {
		const struct debugstore_record *record = &history->records[i];

		branches += record->type == DEBUGSTORE_BRANCH && !from_kernel(record) &&
			    !to_kernel(record);
	}
	return branches;
}
