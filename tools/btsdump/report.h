/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BTSDUMP_REPORT_H
#define BTSDUMP_REPORT_H

#include <stdio.h>

#include "run.h"

void report_print(FILE *file, const struct outcome *outcome);

#endif /* BTSDUMP_REPORT_H */
