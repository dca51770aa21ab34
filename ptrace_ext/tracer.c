// SPDX-License-Identifier: GPL-2.0-only
/* A tracer's descriptor. */

#include <linux/anon_inodes.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <debugstore/bts.h>
#include "internal.h"

static int status(struct bts_tracer *tracer, void __user *arg)
{
	struct debugstore_status status;
	size_t size;
	int error;

	error = abi_get(&status, sizeof(status), sizeof(status), arg, &size);
	if (error)
		return error;
	memset(&status, 0, sizeof(status));
	status.size = min(sizeof(status), size);
	error = bts_status(tracer, &status);
	if (error)
		return error;
	return abi_put(arg, &status, sizeof(status), size);
}

static int copy_out(struct bts_tracer *tracer, const struct ds_view *view, u64 first,
		    struct debugstore_record __user *to, struct debugstore_record *page)
{
	const u64 a_page = PAGE_SIZE / sizeof(*page);

	while (first < view->count) {
		unsigned int n = min(a_page, view->count - first);

		bts_read(tracer, view, first, page, n);
		if (copy_to_user(to, page, n * sizeof(*page)))
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		first += n;
		to += n;
	}
	return 0;
}

static int read(struct bts_tracer *tracer, void __user *arg)
{
	struct debugstore_record *page;
	struct debugstore_read read;
	struct ds_view view;
	size_t size;
	int error;

	error = abi_get(&read, sizeof(read), sizeof(read), arg, &size);
	if (error)
		return error;
	page = (struct debugstore_record *)__get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;

	error = bts_read_begin(tracer, &view, &read.state);
	if (error)
		goto free;
	read.size = min(sizeof(read), size);
	read.held = view.count;
	read.count = min(view.count, read.max);
	error = copy_out(tracer, &view, view.count - read.count,
			 u64_to_user_ptr(read.records), page);
	bts_read_end(tracer);
	if (!error)
		error = abi_put(arg, &read, sizeof(read), size);
free:
	free_page((unsigned long)page);
	return error;
}

static long tracer_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct bts_tracer *tracer = file->private_data;
	void __user *user = (void __user *)arg;

	if (_IOC_TYPE(cmd) != DEBUGSTORE_IOC_MAGIC)
		return -ENOTTY;
	/* by number: the size is that of the caller's header */
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(DEBUGSTORE_IOC_START):
		return bts_start(tracer);
	case _IOC_NR(DEBUGSTORE_IOC_STOP):
		return bts_stop(tracer);
	case _IOC_NR(DEBUGSTORE_IOC_STATUS):
		return status(tracer, user);
	case _IOC_NR(DEBUGSTORE_IOC_READ):
		return read(tracer, user);
	default:
		return -ENOTTY;
	}
}

static int tracer_release(struct inode *inode, struct file *file)
{
	bts_close(file->private_data);
	return 0;
}

static const struct file_operations tracer_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = tracer_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = tracer_release,
	.llseek = noop_llseek,
};

/**
 * tracer_file() - make a file for a tracer
 * @tracer: closed with the file
 *
 * Context: process, sleeps.
 * Return: the file or an error pointer; then the tracer is still the caller's.
 */
struct file *tracer_file(struct bts_tracer *tracer)
{
	return anon_inode_getfile("[debugstore]", &tracer_fops, tracer, O_RDWR);
}
