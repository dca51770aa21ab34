/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels call differently. Included ahead of every source file, so that none
 * of them tests for a version.
 */
#ifndef _DEBUGSTORE_COMPAT_H
#define _DEBUGSTORE_COMPAT_H

#include <asm/msr.h>

/* 6.16 renamed them and kept no alias. */
#ifndef rdmsrq
#define rdmsrq rdmsrl
#define wrmsrq wrmsrl
#endif

struct tracepoint;
struct tracepoint *compat_tracepoint(const char *name);

#endif /* _DEBUGSTORE_COMPAT_H */
