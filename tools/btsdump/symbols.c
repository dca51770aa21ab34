// SPDX-License-Identifier: GPL-2.0-only
#include "symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <elfutils/libdwfl.h>

#include "functions.h"
#include "util.h"

#define DELETED " (deleted)"

struct named {
	uint64_t address;
	char *text; /* NULL: the slot is free */
};

/* What libdwfl keeps for us with each module. */
struct module {
	pid_t pid;
	struct functions *functions; /* NULL: not asked for yet */
};

struct symbols {
	Dwfl *dwfl;
	struct named *table; /* open addressing, at most half full */
	size_t slots;
	size_t used;
};

/* A program that was rebuilt while it ran: what runs is still there to be read. */
static bool is_deleted_program(pid_t pid, const char *name)
{
	char link[64];
	char path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return strstr(path, DELETED) && strcmp(path, name) == 0;
}

/* The process may live under another root: a name in its map is a name there. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	const struct module *ours = *userdata;
	if (ours && name[0] == '/') {
		_cleanup_free_ char *path = is_deleted_program(ours->pid, name)
						    ? format("/proc/%d/exe", ours->pid)
						    : format("/proc/%d/root%s", ours->pid, name);
		struct stat st;
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd >= 0) {
				*file_name = format("%s", name);
				return fd;
			}
		}
	}
	return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elf);
}

static int add_module(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		      void *pid)
{
	(void)module, (void)name, (void)base;
	struct module *ours = check_memory(calloc(1, sizeof(*ours)));
	ours->pid = *(pid_t *)pid;
	*userdata = ours;
	return DWARF_CB_OK;
}

static int remove_module(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			 void *argument)
{
	(void)module, (void)name, (void)base, (void)argument;
	struct module *ours = *userdata;
	if (ours)
		functions_close(ours->functions);
	free(ours);
	*userdata = NULL;
	return DWARF_CB_OK;
}

struct symbols *symbols_open(pid_t pid)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct symbols *symbols = check_memory(calloc(1, sizeof(*symbols)));
	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl || dwfl_linux_proc_report(symbols->dwfl, pid) ||
	    dwfl_report_end(symbols->dwfl, NULL, NULL)) {
		symbols_close(symbols);
		return NULL;
	}
	dwfl_getmodules(symbols->dwfl, add_module, &pid, 0);
	/* Only for files deleted since, which libdwfl then reads from memory. */
	dwfl_linux_proc_attach(symbols->dwfl, pid, true);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->slots; i++)
		free(symbols->table[i].text);
	free(symbols->table);
	if (symbols->dwfl)
		dwfl_getmodules(symbols->dwfl, remove_module, NULL, 0);
	dwfl_end(symbols->dwfl);
	free(symbols);
}

/*
 * libstdc++ is on every machine with a C++ program to debug; on others, not needing
 * it keeps the tool small.
 */
static char *demangle(const char *name)
{
	static char *(*function)(const char *, char *, size_t *, int *);
	static bool looked;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	if (!looked) {
		looked = true;
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **)&function = dlsym(library, "__cxa_demangle");
	}
	int status;
	return function ? function(name, NULL, NULL, &status) : NULL;
}

static char *short_name(const char *name)
{
	if (!name || !*name)
		return format("?");
	if (strncmp(name, "[vdso", 5) == 0)
		return format("[vdso]");
	const char *slash = strrchr(name, '/');
	if (slash && slash[1])
		name = slash + 1;
	const char *deleted = strstr(name, DELETED);
	return format("%.*s", deleted ? (int)(deleted - name) : (int)strlen(name), name);
}

static const char *find_function(Dwfl_Module *module, struct module *ours, uint64_t address,
				 uint64_t *start_ret)
{
	if (!ours->functions)
		ours->functions = functions_open(module);
	const char *name = functions_find(ours->functions, address, start_ret);
	if (name)
		return name;
	/* Assembler's labels have no size. */
	GElf_Off offset = 0;
	GElf_Sym symbol;
	name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	*start_ret = address - offset;
	return name && *name ? name : NULL;
}

/* As the compiler was told the file's name, like gdb: without the directory it ran in. */
static char *source_line(Dwfl_Module *module, uint64_t address)
{
	Dwfl_Line *line = dwfl_module_getsrc(module, address);
	int number = 0;
	const char *file = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!file || number == 0)
		return NULL;
	const char *directory = dwfl_line_comp_dir(line);
	size_t length = directory ? strlen(directory) : 0;
	if (length && strncmp(file, directory, length) == 0 && file[length] == '/')
		file += length + 1;
	return format("%s:%d", file, number);
}

static char *name_address(const struct symbols *symbols, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
	if (!module)
		return format("0x%" PRIx64, address);

	void **userdata = NULL;
	Dwarf_Addr base = 0;
	const char *path = dwfl_module_info(module, &userdata, &base, NULL, NULL, NULL, NULL, NULL);
	_cleanup_free_ char *where = short_name(path);
	uint64_t start;
	const char *name = find_function(module, *userdata, address, &start);
	if (!name)
		return format("%s+0x%" PRIx64, where, address - base);

	_cleanup_free_ char *line = source_line(module, address);
	_cleanup_free_ char *plain = demangle(name);
	int length = (int)(plain ? strlen(plain) : strcspn(name, "@"));
	return format("%.*s+0x%" PRIx64 " (%s)", length, plain ? plain : name, address - start,
		      line ? line : where);
}

static struct named *find_slot(struct named *table, size_t slots, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ULL >> 20) & (slots - 1);
	while (table[i].text && table[i].address != address)
		i = (i + 1) & (slots - 1);
	return &table[i];
}

static void grow(struct symbols *symbols)
{
	size_t slots = symbols->slots ? symbols->slots * 2 : 256;
	struct named *table = check_memory(calloc(slots, sizeof(*table)));
	for (size_t i = 0; i < symbols->slots; i++) {
		if (symbols->table[i].text)
			*find_slot(table, slots, symbols->table[i].address) = symbols->table[i];
	}
	free(symbols->table);
	symbols->table = table;
	symbols->slots = slots;
}

const char *symbols_name(struct symbols *symbols, uint64_t address)
{
	if (symbols->used * 2 >= symbols->slots)
		grow(symbols);
	struct named *slot = find_slot(symbols->table, symbols->slots, address);
	if (!slot->text) {
		slot->address = address;
		slot->text = name_address(symbols, address);
		symbols->used++;
	}
	return slot->text;
}
