// SPDX-License-Identifier: GPL-2.0-only
/* /dev/debugstore: what the machine offers, and the making of tracers. */

#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include <debugstore/bts.h>
#include "internal.h"

static int info(void __user *arg)
{
	struct debugstore_info info;
	size_t size;
	int error;

	error = abi_get(&info, sizeof(info), sizeof(info), arg, &size);
	if (error)
		return error;
	memset(&info, 0, sizeof(info));
	info.size = min(sizeof(info), size);
	info.record_bytes = sizeof(struct debugstore_record);
	info.flags = bts_flags();
	info.min_buffer_bytes = ds_min_bytes();
	info.max_buffer_bytes = ds_max_bytes();
	return abi_put(arg, &info, sizeof(info), size);
}

static struct task_struct *task_of(pid_t nr, struct ds_reason *reason)
{
	struct task_struct *task;
	struct pid *pid;
	int error;

	if (!nr)
		return get_task_struct(current);
	if (nr < 0) {
		error = ds_refuse(reason, -EINVAL,
				  "pid %d: it can be a thread's, or 0 for your own", nr);
		return ERR_PTR(error);
	}
	pid = find_get_pid(nr);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task) {
		error = ds_refuse(reason, -ESRCH, "there is no thread %d", nr);
		return ERR_PTR(error);
	}
	return task;
}

/* Attach under the lock that an exec takes, or an exec may change whom we allowed. */
static int attach(struct bts_tracer *tracer, struct task_struct *task, u64 exec_id,
		  struct ds_reason *reason)
{
	int error;

	while ((error = access_lock(task, exec_id)) == -EAGAIN) {
		error = access_check(task, &exec_id, reason);
		if (error)
			return error;
	}
	if (error)
		return ds_refuse(reason, error, "killed");
	error = bts_attach(tracer, reason);
	access_unlock(task);
	return error;
}

static struct bts_tracer *open_tracer(const struct debugstore_open *open, struct ds_reason *reason)
{
	struct bts_request request = {
		.flags = open->flags,
		.buffer_bytes = open->buffer_bytes,
		.see_kernel = perfmon_capable(),
	};
	struct bts_tracer *tracer;
	u64 exec_id;
	int error;

	if (open->reserved)
		return ERR_PTR(ds_refuse(reason, -EINVAL, "reserved is 0x%x: it must be zero",
					 open->reserved));
	request.task = task_of(open->pid, reason);
	if (IS_ERR(request.task))
		return ERR_CAST(request.task);

	error = access_check(request.task, &exec_id, reason);
	if (!error && open->flags & DEBUGSTORE_KERNEL && !request.see_kernel)
		error = ds_refuse(reason, -EPERM,
				  "kernel branches need CAP_PERFMON or CAP_SYS_ADMIN: ask for DEBUGSTORE_USER only");
	if (error) {
		tracer = ERR_PTR(error);
		goto put;
	}
	tracer = bts_create(&request, reason);
	if (IS_ERR(tracer))
		goto put;
	error = attach(tracer, request.task, exec_id, reason);
	if (error) {
		bts_close(tracer);
		tracer = ERR_PTR(error);
	}
put:
	put_task_struct(request.task);
	return tracer;
}

static int open_fd(struct debugstore_open *open, void __user *arg, size_t size,
		   struct ds_reason *reason)
{
	struct debugstore_status status;
	struct bts_tracer *tracer;
	struct file *file;
	int fd, error;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return ds_refuse(reason, fd, "no descriptor left");
	tracer = open_tracer(open, reason);
	if (IS_ERR(tracer)) {
		error = PTR_ERR(tracer);
		goto put_fd;
	}
	file = tracer_file(tracer);
	if (IS_ERR(file)) {
		error = ds_refuse(reason, PTR_ERR(file), "no file left");
		bts_close(tracer);
		goto put_fd;
	}
	error = bts_status(tracer, &status);
	if (error)
		goto put_file;
	open->buffer_bytes = status.buffer_bytes;
	error = abi_put(arg, open, sizeof(*open), size);
	if (error)
		goto put_file;
	fd_install(fd, file);
	return fd;

put_file:
	fput(file);
put_fd:
	put_unused_fd(fd);
	return error;
}

/* The errno tells enough to who gave a bad address for the sentence. */
static void tell(const struct debugstore_open *open, const struct ds_reason *reason)
{
	char __user *why = u64_to_user_ptr(open->why);
	size_t n;

	if (!open->why || !open->why_bytes)
		return;
	n = min_t(size_t, strlen(reason->text), open->why_bytes - 1);
	if (!copy_to_user(why, reason->text, n))
		put_user('\0', why + n);
}

static int open(void __user *arg)
{
	struct ds_reason reason = {};
	struct debugstore_open open;
	size_t size;
	int ret;

	ret = abi_get(&open, sizeof(open), sizeof(open), arg, &size);
	if (ret)
		return ret;
	open.size = size;
	ret = open_fd(&open, arg, size, &reason);
	if (ret < 0)
		tell(&open, &reason);
	return ret;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;

	if (_IOC_TYPE(cmd) != DEBUGSTORE_IOC_MAGIC)
		return -ENOTTY;
	/* by number: the size is that of the caller's header */
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(DEBUGSTORE_IOC_INFO):
		return info(user);
	case _IOC_NR(DEBUGSTORE_IOC_OPEN):
		return open(user);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* For everybody: each OPEN asks for its own rights. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "debugstore",
	.mode = 0666,
	.fops = &device_fops,
};

static int __init debugstore_init(void)
{
	struct ds_reason reason = {};
	int error;

	error = ds_init(&reason);
	if (error)
		goto refuse;
	error = access_init(&reason);
	if (error)
		goto exit_ds;
	error = misc_register(&device);
	if (error) {
		ds_refuse(&reason, error, "/dev/debugstore cannot be registered");
		goto exit_access;
	}
	return 0;

exit_access:
	access_exit();
exit_ds:
	ds_exit();
refuse:
	pr_err("not loaded (%pe): %s\n", ERR_PTR(error), reason.text);
	return error;
}

static void __exit debugstore_exit(void)
{
	misc_deregister(&device);
	access_exit();
	ds_exit();
}

module_init(debugstore_init);
module_exit(debugstore_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Intel Debug Store: branch histories of tasks");
MODULE_VERSION("0.1");
