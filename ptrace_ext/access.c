// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may trace whom.
 *
 * ptrace_may_access() is not exported, and a copy of its rules would pass by the
 * security modules. Opening <pid>/mem asks it (proc_mem_open(), mm_access() with
 * PTRACE_MODE_ATTACH_FSCREDS), so we open that, on a mount of our own that nobody
 * can cover with another.
 */

#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <debugstore/ds.h>
#include "internal.h"

static struct vfsmount *proc;

static int open_mem(struct task_struct *task)
{
	pid_t nr = pid_nr_ns(task_pid(task), proc_pid_ns(proc->mnt_sb));
	struct path root = { .mnt = proc, .dentry = proc->mnt_root };
	struct file *file;
	char name[24];

	if (!nr)
		return -ESRCH;
	snprintf(name, sizeof(name), "%d/mem", nr);
	file = file_open_root(&root, name, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOENT ? -ESRCH : PTR_ERR(file);
	fput(file);
	return 0;
}

/**
 * access_check() - may current ptrace-attach to a task?
 * @task: the task, held
 * @exec_id: gets what access_lock() wants
 * @reason: says why not
 *
 * Context: process, sleeps; no locks.
 * Return: 0, -ESRCH, -EPERM (a kernel thread), -EACCES.
 */
int access_check(struct task_struct *task, u64 *exec_id, struct ds_reason *reason)
{
	int error;

	/* on older kernels the file opens for a task without memory, unchecked */
	if (READ_ONCE(task->flags) & PF_KTHREAD)
		return ds_refuse(reason, -EPERM, "a kernel thread has no user to ask: not traced");
	*exec_id = READ_ONCE(task->self_exec_id);
	error = READ_ONCE(task->mm) ? open_mem(task) : -ESRCH;
	/* the number may have become another's */
	if (error == -ESRCH || (!error && (!pid_alive(task) || !READ_ONCE(task->mm))))
		return ds_refuse(reason, -ESRCH, "the thread is dead or exiting");
	if (error)
		return ds_refuse(reason, error,
				 "the thread is not yours to trace: you may not ptrace-attach to it");
	return 0;
}

/**
 * access_lock() - keep what access_check() found true
 * @task: the task
 * @exec_id: of access_check()
 *
 * Until access_unlock(), the task's rights do not change by an exec.
 *
 * Context: process, sleeps.
 * Return: 0, -EAGAIN if there was an exec since: check again, -EINTR.
 */
int access_lock(struct task_struct *task, u64 exec_id)
{
	int error;

	error = down_read_killable(&task->signal->exec_update_lock);
	if (error)
		return error;
	if (READ_ONCE(task->self_exec_id) == exec_id)
		return 0;
	up_read(&task->signal->exec_update_lock);
	return -EAGAIN;
}

/**
 * access_unlock() - end of access_lock()
 * @task: the task
 */
void access_unlock(struct task_struct *task)
{
	up_read(&task->signal->exec_update_lock);
}

/**
 * access_init() - make the mount
 * @reason: says why not
 *
 * Context: process, sleeps.
 * Return: 0 or a negative errno.
 */
int access_init(struct ds_reason *reason)
{
	struct file_system_type *type = get_fs_type("proc");

	if (!type)
		return ds_refuse(reason, -ENODEV,
				 "the kernel has no proc file system: CONFIG_PROC_FS is needed");
	proc = kern_mount(type);
	/* put_filesystem() is not exported; this is all it does */
	module_put(type->owner);
	if (IS_ERR(proc))
		return ds_refuse(reason, PTR_ERR(proc), "proc cannot be mounted");
	return 0;
}

/** access_exit() - end of access_init() */
void access_exit(void)
{
	kern_unmount(proc);
}
