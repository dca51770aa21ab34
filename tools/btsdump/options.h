/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_OPTIONS_H
#define BTSDUMP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LAST_ALL UINT64_MAX

struct options {
	uint64_t last; /* how many branches to print, or LAST_ALL */
	uint64_t buffer_bytes;
	bool always;
	const char *output; /* NULL: standard error */
	pid_t pid; /* attach to this thread; 0: run @argv */
	char **argv;
};

/* Exits on --help, --version and on whatever cannot be. */
void options_parse(struct options *options, int argc, char **argv);

#endif /* BTSDUMP_OPTIONS_H */
