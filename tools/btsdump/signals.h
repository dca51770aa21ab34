/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_SIGNALS_H
#define BTSDUMP_SIGNALS_H

#include <signal.h>
#include <stdio.h>

/* "SIGSEGV (Segmentation fault)" */
void signal_print_name(FILE *file, int number);

/* ", address not mapped: 0x0" or ", sent by pid 12": nothing if there is nothing to say. */
void signal_print_cause(FILE *file, const siginfo_t *info, pid_t taker);

#endif /* BTSDUMP_SIGNALS_H */
