/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_FUNCTIONS_H
#define BTSDUMP_FUNCTIONS_H

#include <stdint.h>

#include <elfutils/libdwfl.h>

/*
 * The functions of a module by address. dwfl_module_addrinfo() looks at every symbol
 * for each address, which takes minutes for a long history of a large program.
 */
struct functions;

struct functions *functions_open(Dwfl_Module *module);
void functions_close(struct functions *functions);

/* NULL if no function of known size contains @address. */
const char *functions_find(const struct functions *functions, uint64_t address,
			   uint64_t *start_ret);

#endif /* BTSDUMP_FUNCTIONS_H */
