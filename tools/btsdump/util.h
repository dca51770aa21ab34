/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_UTIL_H
#define BTSDUMP_UTIL_H

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As env(1) and timeout(1): what the program itself is unlikely to exit with. */
enum { EXIT_OWN_FAILURE = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline void *check_memory(void *memory)
{
	if (!memory)
		errx(EXIT_OWN_FAILURE, "out of memory; ask for fewer branches with -n");
	return memory;
}

/* asprintf(), or the end. */
#define format(...)                                                           \
	({                                                                    \
		char *format_text;                                            \
		int format_length = asprintf(&format_text, __VA_ARGS__);      \
		(char *)check_memory(format_length < 0 ? NULL : format_text); \
	})

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

#define _cleanup_close_	 __attribute__((cleanup(cleanup_close)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose)))
#define _cleanup_free_	 __attribute__((cleanup(cleanup_free)))

#endif /* BTSDUMP_UTIL_H */
