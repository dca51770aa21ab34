// SPDX-License-Identifier: GPL-2.0-only
#include "signals.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util.h"

static const struct {
	int number;
	int code;
	const char *words;
} causes[] = {
	{ SIGSEGV, SEGV_MAPERR, "address not mapped" },
	{ SIGSEGV, SEGV_ACCERR, "access not permitted" },
	{ SIGSEGV, SEGV_BNDERR, "address outside of its bounds" },
	{ SIGSEGV, SEGV_PKUERR, "access not permitted by its protection key" },
	{ SIGBUS, BUS_ADRALN, "misaligned address" },
	{ SIGBUS, BUS_ADRERR, "no memory behind the address" },
	{ SIGBUS, BUS_OBJERR, "hardware error at the address" },
	{ SIGBUS, BUS_MCEERR_AR, "memory error at the address" },
	{ SIGBUS, BUS_MCEERR_AO, "memory error found at the address" },
	{ SIGILL, ILL_ILLOPC, "illegal opcode" },
	{ SIGILL, ILL_ILLOPN, "illegal operand" },
	{ SIGILL, ILL_ILLADR, "illegal addressing mode" },
	{ SIGILL, ILL_ILLTRP, "illegal trap" },
	{ SIGILL, ILL_PRVOPC, "privileged opcode" },
	{ SIGILL, ILL_PRVREG, "privileged register" },
	{ SIGILL, ILL_COPROC, "coprocessor error" },
	{ SIGILL, ILL_BADSTK, "internal stack error" },
	{ SIGFPE, FPE_INTDIV, "integer division by zero or overflow" },
	{ SIGFPE, FPE_INTOVF, "integer overflow" },
	{ SIGFPE, FPE_FLTDIV, "floating-point division by zero" },
	{ SIGFPE, FPE_FLTOVF, "floating-point overflow" },
	{ SIGFPE, FPE_FLTUND, "floating-point underflow" },
	{ SIGFPE, FPE_FLTRES, "floating-point result inexact" },
	{ SIGFPE, FPE_FLTINV, "invalid floating-point operation" },
	{ SIGFPE, FPE_FLTSUB, "subscript out of range" },
};

void signal_print_name(FILE *file, int number)
{
	const char *name = sigabbrev_np(number);
	if (name)
		fprintf(file, "SIG%s (%s)", name, sigdescr_np(number));
	else
		fprintf(file, "signal %d", number);
}

static bool has_address(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE;
}

void signal_print_cause(FILE *file, const siginfo_t *info, pid_t taker)
{
	if (info->si_code == SI_USER || info->si_code == SI_TKILL || info->si_code == SI_QUEUE) {
		if (info->si_pid == taker)
			fprintf(file, ", sent by itself");
		else if (info->si_pid > 0)
			fprintf(file, ", sent by pid %d", info->si_pid);
		return;
	}
	if (info->si_code <= 0 || !has_address(info->si_signo))
		return;
	/* A general protection fault: the CPU does not say what address it was. */
	if (info->si_code == SI_KERNEL) {
		fprintf(file, ", general protection fault, at no address the CPU would tell");
		return;
	}
	const char *words = "address";
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		if (causes[i].number == info->si_signo && causes[i].code == info->si_code)
			words = causes[i].words;
	}
	fprintf(file, ", %s: 0x%" PRIxPTR, words, (uintptr_t)info->si_addr);
}
