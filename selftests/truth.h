/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program really did, found without the module: by stepping it, one
 * instruction at a time, or by computing it. And the comparison with a history.
 */
#ifndef SELFTESTS_TRUTH_H
#define SELFTESTS_TRUTH_H

#include "lib.h"

/* A place where the program did not simply go on with the next instruction. */
struct turn {
	__u64 from;
	__u64 to;
	/* Went through the kernel, by a syscall or a signal: no branch of the user's. */
	bool kernel;
};

struct instruction {
	__u64 address; /* 0: a free slot of the table */
	__u8 kind;
	__u8 length; /* 0: unknown */
	__u8 opcode;
	bool near_count; /* of jecxz and the loops: 32 bits wide */
};

struct truth {
	struct turn *turns;
	size_t count;
	size_t room;
	__u64 end; /* the last instruction */
	size_t steps;
	/* A hash table of all that were met; NULL in a computed truth. */
	struct instruction *instructions;
};

/* Both return 0, or -1 and say what was wrong, as a comment in the test's output. */
int truth_step(const struct program *program, struct truth *truth_ret);
/*
 * That @records are what the program did from its turn number @first to its end:
 * all of it, in order, and nothing else but ways back from interrupts and faults,
 * each to an instruction that was about to be executed.
 */
int truth_compare(const struct truth *truth, size_t first, const struct debugstore_record *records,
		  size_t count);

int truth_add(struct truth *truth, __u64 from, __u64 to, bool kernel);
void truth_free(struct truth *truth);
int truth_know_instructions(struct truth *truth);
/* Where that instruction is in the table, or would be. */
struct instruction *truth_instruction(const struct truth *truth, __u64 address);

/* How many of them are branches from user code to user code. */
size_t truth_branches(const struct truth *truth);
size_t history_branches(const struct history *history);

/* prog-states, computed. */
int states_compute(struct truth *truth_ret);

#endif /* SELFTESTS_TRUTH_H */
