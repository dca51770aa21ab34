/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_HISTORY_H
#define BTSDUMP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <debugstore.h>

struct history {
	struct debugstore_record *records; /* the newest @count, oldest first */
	size_t count;
	uint64_t held; /* how many the kernel had */
	uint32_t state;
};

/*
 * All of these say on standard error what went wrong. history_open() gives the
 * descriptor of a stopped tracer, or -1.
 */
int history_open(pid_t pid, uint64_t buffer_bytes);
bool history_start(int tracer);

/* Stops the tracer first; the records are the caller's to free(). */
bool history_read(int tracer, uint64_t last, struct history *history_ret);

#endif /* BTSDUMP_HISTORY_H */
