// SPDX-License-Identifier: GPL-2.0-only
/*
 * poke RULE: break one of the rules that Intel's manual has for the Debug Store, on
 * CPU 0, without the module. The machine must stop; on silicon, better not.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

#define MSR_DEBUGCTL	  0x1d9
#define MSR_DS_AREA	  0x600
#define DEBUGCTL_TR	  (1U << 6)
#define DEBUGCTL_BTS	  (1U << 7)
#define DEBUGCTL_RESERVED (1U << 5)

#define PAGE_BYTES   4096
#define RECORD_BYTES 24
#define UNMAPPED     0xffff880000000000 /* a guard hole of the kernel's */

/* As the hardware sees it, with 64-bit fields; PEBS's half is all zero. */
struct area {
	__u64 bts_base;
	__u64 bts_index;
	__u64 bts_maximum;
	__u64 bts_threshold;
	__u64 pebs[12];
};

static int trace_to(const void *area)
{
	return msr_write(0, MSR_DS_AREA, (uintptr_t)area)
		       ?: msr_write(0, MSR_DEBUGCTL, DEBUGCTL_TR | DEBUGCTL_BTS);
}

static void set_buffer(struct area *area, __u64 buffer)
{
	area->bts_base = buffer;
	area->bts_index = buffer;
	area->bts_maximum = buffer + PAGE_BYTES / RECORD_BYTES * RECORD_BYTES + 1;
	area->bts_threshold = buffer + 2 * PAGE_BYTES;
}

/* Ours, so that nobody else's page tables have it. */
static struct area *good_area(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (pages == MAP_FAILED || mlock(pages, 2 * PAGE_BYTES))
		return NULL;
	struct area *area = (void *)pages;

	set_buffer(area, (uintptr_t)pages + PAGE_BYTES);
	return area;
}

/* Tracing goes on when the CPU changes to a task whose page tables do not have our area. */
static int trace_beside_another(struct area *area)
{
	if (madvise(area, 2 * PAGE_BYTES, MADV_DONTFORK))
		return -1;
	pid_t pid = fork();
	int err = pid > 0 ? trace_to(area) : 0;

	if (pid < 0)
		return -1;
	while (!err)
		sched_yield();
	return err;
}

static int poke(const char *rule, struct area *area)
{
	if (!strcmp(rule, "reserved-bit"))
		return msr_write(0, MSR_DEBUGCTL, DEBUGCTL_RESERVED);
	if (!strcmp(rule, "area-changed"))
		return msr_write(0, MSR_DEBUGCTL, DEBUGCTL_TR)
			       ?: msr_write(0, MSR_DS_AREA, (uintptr_t)area);
	if (!strcmp(rule, "area-unmapped"))
		return trace_to((void *)UNMAPPED);
	if (!strcmp(rule, "area-of-another-process"))
		return trace_beside_another(area);
	if (!strcmp(rule, "index-misplaced"))
		area->bts_index += 8;
	else if (!strcmp(rule, "buffer-too-small"))
		area->bts_maximum = area->bts_base + RECORD_BYTES - 1;
	else if (!strcmp(rule, "store-unmapped"))
		set_buffer(area, UNMAPPED);
	else
		return -1;
	return trace_to(area);
}

int main(int argc, char **argv)
{
	struct area *area = good_area();

	if (argc != 2 || !area || pin_to_cpu(0, 0)) {
		fprintf(stderr, "usage: poke RULE\n");
		return 2;
	}
	int err = poke(argv[1], area);

	fprintf(stderr, "poke %s: the machine went on (%d)\n", argv[1], err);
	return 1;
}
