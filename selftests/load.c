// SPDX-License-Identifier: GPL-2.0-only
/* load: insert debugstore.ko, in one attempt; busybox's insmod makes two. */
#include <stdio.h>
#include <string.h>

#include "lib.h"

int main(void)
{
	int err = module_load();

	if (err)
		fprintf(stderr, "load: %s\n", strerror(-err));
	return err ? 1 : 0;
}
