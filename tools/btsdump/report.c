// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <inttypes.h>
#include <sys/wait.h>

#include "capture.h"
#include "signals.h"

#define HEAD "btsdump: "
#define NOTE HEAD "note: "

static void print_end(FILE *file, const struct outcome *outcome)
{
	fprintf(file, HEAD "%s (", outcome->program);
	if (outcome->pid == outcome->process)
		fprintf(file, "pid %d) ", outcome->pid);
	else
		fprintf(file, "thread %d of pid %d) ", outcome->pid, outcome->process);

	if (outcome->end == END_DETACHED) {
		fprintf(file, "was let go\n");
	} else if (outcome->end == END_REPLACED) {
		fprintf(file, "goes on as another program, started by another thread\n");
	} else if (WIFSIGNALED(outcome->status)) {
		fprintf(file, "was killed by ");
		signal_print_name(file, WTERMSIG(outcome->status));
		if (outcome->signal.si_signo == WTERMSIG(outcome->status))
			signal_print_cause(file, &outcome->signal, outcome->process);
		fprintf(file, "\n");
	} else {
		fprintf(file, "exited with status %d\n", WEXITSTATUS(outcome->status));
	}
}

static void print_address(FILE *file, struct symbols *symbols, uint64_t address)
{
	if (symbols)
		fputs(symbols_name(symbols, address), file);
	else
		fprintf(file, "0x%" PRIx64, address);
}

static void print_signal_notes(FILE *file, const struct outcome *outcome)
{
	if (outcome->end != END_DIED || !WIFSIGNALED(outcome->status))
		return;
	int number = WTERMSIG(outcome->status);
	if (outcome->signal.si_signo == number) {
		fprintf(file, HEAD "it was at ");
		print_address(file, outcome->symbols, outcome->rip);
		fprintf(file, "\n");
	} else if (outcome->thread_status != outcome->status) {
		fprintf(file,
			NOTE
			"another thread took the signal; thread %d, whose branches these are, had ended before\n",
			outcome->pid);
	} else if (number != SIGKILL) {
		fprintf(file,
			NOTE
			"another thread took the signal; these are the branches of thread %d\n",
			outcome->pid);
	}
}

static void print_count(FILE *file, const struct outcome *outcome)
{
	const struct history *history = &outcome->history;
	if (history->count == 0) {
		fprintf(file, HEAD "no branches were recorded\n");
		return;
	}
	fprintf(file, HEAD "%zu of %ju recorded branches, the newest last", history->count,
		(uintmax_t)history->held);
	if (history->state & DEBUGSTORE_WRAPPED)
		fprintf(file, "; older ones were overwritten%s",
			history->count == history->held ? " (-s SIZE keeps more)" : "");
	fprintf(file, "\n");
}

static void print_history_notes(FILE *file, const struct outcome *outcome)
{
	if (outcome->history.state & DEBUGSTORE_DROPPED)
		fprintf(file, NOTE
			"the history ends where it executed a program that is set-user-ID, set-group-ID or not readable\n");
	if (outcome->foreign && outcome->foreign == outcome->history.count)
		fprintf(file, NOTE "all are the program's before execve(): bare addresses\n");
	else if (outcome->foreign)
		fprintf(file,
			NOTE "the first %zu are the program's before execve(): bare addresses\n",
			outcome->foreign);
	else if (!outcome->symbols && outcome->history.count)
		fprintf(file,
			NOTE "it was gone before its memory map could be read: bare addresses\n");
}

static void print_side(FILE *file, struct symbols *symbols, uint64_t address, bool kernel,
		       bool hidden)
{
	if (hidden)
		fprintf(file, "[kernel]");
	else if (kernel)
		fprintf(file, "0x%" PRIx64 " [kernel]", address);
	else
		print_address(file, symbols, address);
}

static int count_digits(uint64_t number)
{
	int digits = 1;
	while (number /= 10)
		digits++;
	return digits;
}

static void print_records(FILE *file, const struct outcome *outcome)
{
	const struct history *history = &outcome->history;
	uint64_t index = history->held - history->count;
	int width = count_digits(history->held);

	for (size_t i = 0; i < history->count; i++) {
		const struct debugstore_record *record = &history->records[i];
		struct symbols *symbols = i < outcome->foreign ? NULL : outcome->symbols;

		index++;
		if (record->type != DEBUGSTORE_BRANCH)
			continue;
		fprintf(file, "%*s#%" PRIu64 "  ", width - count_digits(index), "", index);
		print_side(file, symbols, record->from, record_is_from_kernel(record),
			   record->flags & DEBUGSTORE_FROM_HIDDEN);
		fputs(" -> ", file);
		print_side(file, symbols, record->to, record_is_to_kernel(record),
			   record->flags & DEBUGSTORE_TO_HIDDEN);
		fputc('\n', file);
	}
}

void report_print(FILE *file, const struct outcome *outcome)
{
	print_end(file, outcome);
	print_signal_notes(file, outcome);
	print_count(file, outcome);
	print_history_notes(file, outcome);
	print_records(file, outcome);
}
