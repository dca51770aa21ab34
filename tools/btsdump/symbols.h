/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_SYMBOLS_H
#define BTSDUMP_SYMBOLS_H

#include <stdint.h>
#include <sys/types.h>

struct symbols;

/* The memory map of @pid as it is now, or NULL. Stop the process first. */
struct symbols *symbols_open(pid_t pid);
void symbols_close(struct symbols *symbols);

/*
 * "function+0x1f (file.c:12)", "function+0x1f (module)", "module+0x1234" or "0x1234".
 * The text lives as long as @symbols. What was asked once is known for good; ask
 * while the process is there for what the vDSO and deleted files contain.
 */
const char *symbols_name(struct symbols *symbols, uint64_t address);

#endif /* BTSDUMP_SYMBOLS_H */
