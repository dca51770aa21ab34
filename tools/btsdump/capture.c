// SPDX-License-Identifier: GPL-2.0-only
#include "capture.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "util.h"

static bool is_kernel_address(uint64_t address)
{
	return address >> 63;
}

bool record_is_from_kernel(const struct debugstore_record *record)
{
	return record->flags & DEBUGSTORE_FROM_HIDDEN || is_kernel_address(record->from);
}

bool record_is_to_kernel(const struct debugstore_record *record)
{
	return record->flags & DEBUGSTORE_TO_HIDDEN || is_kernel_address(record->to);
}

/*
 * A program starts with the kernel's return to its entry point; several, if the
 * first instruction faults. What comes before is of a memory map that is no more.
 */
static size_t count_foreign(const struct history *history, uint64_t entry)
{
	if (history->state & DEBUGSTORE_DROPPED)
		return history->count;
	size_t i = history->count;
	while (i && !(record_is_from_kernel(&history->records[i - 1]) &&
		      history->records[i - 1].to == entry))
		i--;
	while (i && record_is_from_kernel(&history->records[i - 1]) &&
	       history->records[i - 1].to == entry)
		i--;
	return i;
}

char *program_path(pid_t pid)
{
	char link[64];
	char path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	return length > 0 ? strndup(path, length) : NULL;
}

bool capture(struct outcome *outcome, int tracer, uint64_t last, uint64_t entry, bool alive)
{
	struct history *history = &outcome->history;
	if (!history_read(tracer, last, history))
		return false;
	outcome->captured = true;
	if (entry || history->state & DEBUGSTORE_DROPPED)
		outcome->foreign = count_foreign(history, entry);
	if (!alive)
		return true;

	char *program = program_path(outcome->pid);
	if (program) {
		free(outcome->program);
		outcome->program = program;
	}
	outcome->symbols = symbols_open(outcome->pid);
	if (!outcome->symbols)
		return true;
	for (size_t i = outcome->foreign; i < history->count; i++) {
		const struct debugstore_record *record = &history->records[i];
		if (!record_is_from_kernel(record))
			symbols_name(outcome->symbols, record->from);
		if (!record_is_to_kernel(record))
			symbols_name(outcome->symbols, record->to);
	}
	if (outcome->signal.si_signo)
		symbols_name(outcome->symbols, outcome->rip);
	return true;
}
