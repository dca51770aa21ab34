// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <debugstore.h>

#include "util.h"

#ifndef BTSDUMP_VERSION
#define BTSDUMP_VERSION "0.1"
#endif

#define DEFAULT_LAST	     32
#define DEFAULT_BUFFER_BYTES (64ULL << 10)
#define ALL_BUFFER_BYTES     (1ULL << 20)
#define PAGE_BYTES	     4096ULL

static const char help[] =
	"Usage: btsdump [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       btsdump [OPTION]... -p PID\n"
	"Run PROGRAM, or attach to a running thread; when it is killed by a signal, print\n"
	"the branches it took last, the newest last.\n"
	"\n"
	"  -n, --last=N       print the last N branches, or 'all' (default 32)\n"
	"  -s, --size=SIZE    record into a buffer of SIZE bytes; K, M or G multiplies\n"
	"                     (default 64K, more if N needs it; 1M with -n all)\n"
	"  -a, --always       print also if the program exits by itself\n"
	"  -p, --pid=PID      attach to the thread PID; Ctrl-C prints and lets it go on\n"
	"  -o, --output=FILE  write to FILE, not to standard error\n"
	"  -h, --help         print this and exit\n"
	"  -V, --version      print the version and exit\n"
	"\n"
	"The exit status is the program's: 128 + N if signal N killed it. 125: btsdump\n"
	"failed; 126: PROGRAM cannot be executed; 127: PROGRAM was not found.\n";

/* Digits only: strtoull() itself takes spaces, signs and wraps negative numbers. */
static bool parse_number(const char *text, uint64_t *number_ret, const char **rest_ret)
{
	if (*text < '0' || *text > '9')
		return false;
	char *rest;
	errno = 0;
	*number_ret = strtoull(text, &rest, 10);
	*rest_ret = rest;
	return errno == 0;
}

static uint64_t parse_last(const char *text)
{
	if (strcmp(text, "all") == 0)
		return LAST_ALL;
	uint64_t last;
	const char *rest;
	if (!parse_number(text, &last, &rest) || *rest != '\0' || last == 0)
		errx(EXIT_OWN_FAILURE,
		     "-n %s: not a number of branches; give 1 or more, like -n 100, or 'all'",
		     text);
	return last;
}

static uint64_t parse_size(const char *text)
{
	uint64_t bytes;
	const char *rest;
	unsigned int shift = 0;

	if (!parse_number(text, &bytes, &rest))
		goto bad;
	switch (*rest) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	}
	if (shift)
		rest++;
	if (*rest != '\0' || bytes == 0 || bytes > UINT64_MAX >> shift)
		goto bad;
	return bytes << shift;
bad:
	errx(EXIT_OWN_FAILURE,
	     "-s %s: not a buffer size; give bytes, or a number with K, M or G, like -s 256K",
	     text);
}

static pid_t parse_pid(const char *text)
{
	uint64_t pid;
	const char *rest;
	if (!parse_number(text, &pid, &rest) || *rest != '\0' || pid == 0 || pid > INT_MAX)
		errx(EXIT_OWN_FAILURE,
		     "-p %s: not a thread; give the number of a running process or thread", text);
	return (pid_t)pid;
}

/* A size that was not asked for follows from the branches that were. */
static uint64_t default_size(uint64_t last)
{
	if (last == LAST_ALL)
		return ALL_BUFFER_BYTES;
	if (last <= DEFAULT_BUFFER_BYTES / sizeof(struct debugstore_record))
		return DEFAULT_BUFFER_BYTES;
	if (last > (UINT64_MAX - PAGE_BYTES) / sizeof(struct debugstore_record))
		errx(EXIT_OWN_FAILURE, "-n %ju: no buffer can be that large; try -n all",
		     (uintmax_t)last);
	return last * sizeof(struct debugstore_record) + PAGE_BYTES;
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "last", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 's' },
		{ "always", no_argument, NULL, 'a' },
		{ "pid", required_argument, NULL, 'p' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{},
	};

	*options = (struct options){ .last = DEFAULT_LAST };
	opterr = 0;
	for (;;) {
		int current = optind;
		int c = getopt_long(argc, argv, "+:n:s:ap:o:hV", long_options, NULL);
		if (c == -1)
			break;
		switch (c) {
		case 'n':
			options->last = parse_last(optarg);
			break;
		case 's':
			options->buffer_bytes = parse_size(optarg);
			break;
		case 'a':
			options->always = true;
			break;
		case 'p':
			options->pid = parse_pid(optarg);
			break;
		case 'o':
			options->output = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			puts("btsdump " BTSDUMP_VERSION);
			exit(EXIT_SUCCESS);
		case ':':
			errx(EXIT_OWN_FAILURE, "%s needs a value after it; see btsdump --help",
			     argv[current]);
		default:
			errx(EXIT_OWN_FAILURE,
			     "%s: not an option of btsdump, or not used as one; see btsdump --help",
			     argv[current]);
		}
	}
	options->argv = argv + optind;
	if (options->pid && options->argv[0])
		errx(EXIT_OWN_FAILURE,
		     "-p %d and the program '%s': give one of them, to attach or to run",
		     options->pid, options->argv[0]);
	if (!options->pid && !options->argv[0])
		errx(EXIT_OWN_FAILURE,
		     "nothing to trace: give a program, like btsdump -- ls, or -p PID");
	if (!options->buffer_bytes)
		options->buffer_bytes = default_size(options->last);
}
