/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of ptrace_ext share among themselves. */
#ifndef _DEBUGSTORE_PTRACE_EXT_INTERNAL_H
#define _DEBUGSTORE_PTRACE_EXT_INTERNAL_H

#include <linux/types.h>

struct bts_tracer;
struct ds_reason;
struct file;
struct task_struct;

/* access.c */
int access_init(struct ds_reason *reason);
void access_exit(void);
int access_check(struct task_struct *task, u64 *exec_id, struct ds_reason *reason);
int access_lock(struct task_struct *task, u64 exec_id);
void access_unlock(struct task_struct *task);

/* abi.c */
int abi_get(void *to, size_t known, size_t first_size, const void __user *from, size_t *size);
int abi_put(void __user *to, const void *from, size_t known, size_t size);

/* tracer.c */
struct file *tracer_file(struct bts_tracer *tracer);

#endif /* _DEBUGSTORE_PTRACE_EXT_INTERNAL_H */
