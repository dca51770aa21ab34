// SPDX-License-Identifier: GPL-2.0-only
#include "functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "util.h"

struct function {
	uint64_t start;
	uint64_t end;
	uint64_t reach; /* the last end of this and all before: where to stop looking back */
	const char *name;
	int binding;
};

struct functions {
	size_t count;
	struct function list[];
};

/* Of several names, the one in the manual: puts, not _IO_puts; memcpy, not memcpy@GLIBC_2.2.5. */
static int plainness(const struct function *function)
{
	int score = -2 * (int)strspn(function->name, "_");
	if (strchr(function->name, '@') && !strstr(function->name, "@@"))
		score -= 100;
	if (function->binding != STB_LOCAL)
		score++;
	return score;
}

/* By start; at the same start the innermost last, then the plainest last. */
static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	int a_score = plainness(a), b_score = plainness(b);
	if (a_score != b_score)
		return a_score < b_score ? -1 : 1;
	return strcmp(b->name, a->name);
}

static bool read_function(Dwfl_Module *module, int index, struct function *function_ret)
{
	GElf_Sym symbol;
	GElf_Addr start;
	const char *name =
		dwfl_module_getsym_info(module, index, &symbol, &start, NULL, NULL, NULL);
	if (!name || !*name || symbol.st_size == 0 || symbol.st_shndx == SHN_UNDEF)
		return false;
	int type = GELF_ST_TYPE(symbol.st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	*function_ret = (struct function){
		.start = start,
		.end = start + symbol.st_size,
		.name = name,
		.binding = GELF_ST_BIND(symbol.st_info),
	};
	return true;
}

struct functions *functions_open(Dwfl_Module *module)
{
	int symbols = dwfl_module_getsymtab(module);
	size_t room = symbols > 0 ? symbols : 0;
	struct functions *functions =
		check_memory(calloc(1, sizeof(*functions) + room * sizeof(struct function)));

	for (int i = 0; i < symbols; i++) {
		if (read_function(module, i, &functions->list[functions->count]))
			functions->count++;
	}
	qsort(functions->list, functions->count, sizeof(struct function), compare);
	uint64_t reach = 0;
	for (size_t i = 0; i < functions->count; i++) {
		if (reach < functions->list[i].end)
			reach = functions->list[i].end;
		functions->list[i].reach = reach;
	}
	return functions;
}

void functions_close(struct functions *functions)
{
	free(functions);
}

const char *functions_find(const struct functions *functions, uint64_t address, uint64_t *start_ret)
{
	size_t low = 0, high = functions->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (functions->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && functions->list[low - 1].reach > address) {
		const struct function *function = &functions->list[--low];
		if (function->end > address) {
			*start_ret = function->start;
			return function->name;
		}
	}
	return NULL;
}
