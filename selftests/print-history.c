// SPDX-License-Identifier: GPL-2.0-only
/*
 * print-history PROGRAM...: trace programs and print a fingerprint of each history,
 * for selftests/run to compare with that of another guest.
 */
#include <stdio.h>

#include "truth.h"

#define BUFFER_BYTES (8 << 20)

/* FNV-1a, a word at a time. */
static __u64 mix(__u64 hash, __u64 word)
{
	return (hash ^ word) * 0x100000001b3ULL;
}

static int print(int dev, const char *name)
{
	const struct program program = { .name = name };
	__u64 branches = 0xcbf29ce484222325ULL, all = branches;
	struct history history;
	pid_t pid = program_start(&program);
	int tracer = tracer_open(dev, pid, DEBUGSTORE_USER, BUFFER_BYTES);

	if (tracer < 0)
		return tracer;
	int err = tracer_start(tracer) ?: program_release(pid);

	if (!err && !exited_well(program_wait(pid)))
		err = -1;
	err = err ?: history_read(tracer, &history);
	if (err)
		return err;
	for (size_t i = 0; i < history.count; i++) {
		const struct debugstore_record *record = &history.records[i];

		all = mix(mix(all, from_kernel(record) ? 0 : record->from), record->to);
		if (!from_kernel(record) && !to_kernel(record))
			branches = mix(mix(branches, record->from), record->to);
	}
	printf("same: branches of %s: %016llx\n", name, branches);
	/* With the interrupts' returns, which come when the guest's devices please. */
	printf("# all records of %s: %016llx\n", name, all);
	history_free(&history);
	return 0;
}

int main(int argc, char **argv)
{
	int dev = device_open(), err = dev < 0 ? dev : 0;

	for (int i = 1; i < argc && !err; i++) {
		err = print(dev, argv[i]);
		if (err)
			fprintf(stderr, "print-history %s: %d\n", argv[i], err);
	}
	return err ? 1 : 0;
}
