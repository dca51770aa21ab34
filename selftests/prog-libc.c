// SPDX-License-Identifier: GPL-2.0-only
/* An ordinary program of the C library: start-up, sorting, formatting, jumps. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 100

static jmp_buf landing;
static volatile int jumps = 1;

static int ascending(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned int depth_first(unsigned int depth)
{
	if (!depth && jumps)
		longjmp(landing, 1);
	if (!depth)
		return 0;
	return depth_first(depth - 1) + depth;
}

int main(void)
{
	unsigned int numbers[NUMBERS], seed = 1;
	char line[128], *copy;

	for (size_t i = 0; i < NUMBERS; i++) {
		seed = seed * 1103515245 + 12345;
		numbers[i] = seed >> 8;
	}
	qsort(numbers, NUMBERS, sizeof(*numbers), ascending);
	for (size_t i = 0; i < NUMBERS; i += 30)
		printf("%zu: %u %#x %s\n", i, numbers[i], numbers[i], "number");
	snprintf(line, sizeof(line), "%.3f %20s|%-5d|", 3.14159, "right", -3);
	copy = strdup(line);
	if (!copy || strtol(copy, NULL, 10) != 3)
		return 1;
	puts(copy);
	free(copy);
	if (!setjmp(landing))
		depth_first(30);
	return fflush(stdout) ? 1 : 0;
}
