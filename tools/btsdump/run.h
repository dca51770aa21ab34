/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_RUN_H
#define BTSDUMP_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "history.h"
#include "options.h"
#include "symbols.h"

enum end {
	END_DIED, /* @status is how */
	END_DETACHED, /* it goes on without us */
	END_REPLACED, /* another thread's execve() ended the one that was traced */
};

struct outcome {
	enum end end;
	int status; /* of the process, as wait(2) has it */

	pid_t pid; /* the thread that was traced */
	pid_t process;
	char *program;
	bool started; /* it was recorded */
	int thread_status; /* of the thread, when it exited */
	siginfo_t signal; /* that killed the thread; si_signo is 0 if it took none */
	uint64_t rip; /* where it took it */

	bool captured; /* what follows is there */
	struct history history;
	size_t foreign; /* that many records, the oldest, are an earlier program's */
	struct symbols *symbols; /* NULL: the process was gone before its map could be read */
};

/* False if btsdump itself failed, which was said on standard error. */
bool run_program(const struct options *options, struct outcome *outcome);
bool run_attached(const struct options *options, struct outcome *outcome);

/* Whether the history is to be printed, by @options and how it ended. */
bool outcome_wanted(const struct outcome *outcome, const struct options *options);

void outcome_release(struct outcome *outcome);

#endif /* BTSDUMP_RUN_H */
