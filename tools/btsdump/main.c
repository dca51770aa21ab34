// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "options.h"
#include "report.h"
#include "run.h"
#include "util.h"

static int exit_status(const struct outcome *outcome)
{
	if (outcome->end != END_DIED)
		return EXIT_SUCCESS;
	if (WIFSIGNALED(outcome->status))
		return 128 + WTERMSIG(outcome->status);
	return WEXITSTATUS(outcome->status);
}

int main(int argc, char **argv)
{
	struct options options;
	options_parse(&options, argc, argv);

	/* Opened first: a program should not have run for nothing. */
	_cleanup_fclose_ FILE *file = NULL;
	if (options.output) {
		file = fopen(options.output, "we");
		if (!file)
			err(EXIT_OWN_FAILURE, "-o %s: cannot write there", options.output);
	}

	struct outcome outcome = {};
	bool ok = options.pid ? run_attached(&options, &outcome) : run_program(&options, &outcome);
	int status = ok ? exit_status(&outcome) : EXIT_OWN_FAILURE;
	if (ok && outcome.captured && outcome_wanted(&outcome, &options)) {
		FILE *to = file ? file : stderr;
		report_print(to, &outcome);
		if (fflush(to) || ferror(to)) {
			warn("cannot write the history to %s",
			     options.output ? options.output : "standard error");
			status = EXIT_OWN_FAILURE;
		}
	}
	outcome_release(&outcome);
	return status;
}
