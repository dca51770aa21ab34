// SPDX-License-Identifier: GPL-2.0-only
/*
 * print-truth PROGRAM: the branches of a program from user code to user code, found by
 * stepping it, as lines "FROM TO" in hexadecimal.
 * print-truth PROGRAM PERIOD COUNT: where it is after each PERIOD of its instructions, COUNT
 * times. For a program without signals and repeated string instructions.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "truth.h"

static int print_branches(const struct program *program)
{
	struct truth truth;
	int err = strcmp(program->name, "prog-states") ? truth_step(program, &truth)
						       : states_compute(&truth);

	for (size_t i = 0; !err && i < truth.count; i++)
		if (!truth.turns[i].kernel)
			printf("%llx %llx\n", truth.turns[i].from, truth.turns[i].to);
	return err;
}

static int print_samples(const struct program *program, unsigned long period, unsigned long count)
{
	struct user_regs_struct regs;
	pid_t pid = program_start(program);
	int status;

	if (pid < 0)
		return -1;
	for (unsigned long n = 1; n <= period * count; n++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, 0, &regs))
			return -1;
		if (n % period == 0)
			printf("%llx\n", regs.rip);
	}
	child_kill(pid);
	return 0;
}

int main(int argc, char **argv)
{
	struct program program = {};

	if (argc < 2 || pin_to_cpu(0, 0)) {
		fprintf(stderr, "usage: print-truth PROGRAM [PERIOD COUNT]\n");
		return 2;
	}
	program.name = argv[1];
	return (argc > 3 ? print_samples(&program, strtoul(argv[2], NULL, 0),
					 strtoul(argv[3], NULL, 0))
			 : print_branches(&program))
		       ? 1
		       : 0;
}
