/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_CAPTURE_H
#define BTSDUMP_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

/* What it executes now, to free(); NULL if that is not for us to know. */
char *program_path(pid_t pid);

bool record_is_from_kernel(const struct debugstore_record *record);
bool record_is_to_kernel(const struct debugstore_record *record);

/*
 * Stop the tracer, read the newest @last records and name their addresses, while
 * the process is there (@alive). @entry is where its last execve() went, 0 if none
 * left records of an earlier program.
 */
bool capture(struct outcome *outcome, int tracer, uint64_t last, uint64_t entry, bool alive);

#endif /* BTSDUMP_CAPTURE_H */
