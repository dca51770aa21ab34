// SPDX-License-Identifier: GPL-2.0-only
/* Structures that start with their size and grow at their end. */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include "internal.h"

/**
 * abi_get() - copy a structure in
 * @to: gets it; what the caller did not have is zero
 * @known: its size, as this kernel knows it
 * @first_size: its size when it was first published; no caller has less
 * @from: where the caller has it
 * @size: gets its size, as the caller knows it
 *
 * Context: process, sleeps.
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int abi_get(void *to, size_t known, size_t first_size, const void __user *from, size_t *size)
{
	u32 given;

	if (get_user(given, (const u32 __user *)from))
		return -EFAULT;
	if (given < first_size)
		return -EINVAL;
	if (given > PAGE_SIZE)
		return -E2BIG;
	/* from here on, what the structure says of its size is not looked at again */
	*size = given;
	return copy_struct_from_user(to, known, from, given);
}

/**
 * abi_put() - copy a structure out
 * @to: where the caller has it
 * @from: the structure
 * @known: its size, as this kernel knows it
 * @size: of abi_get()
 *
 * Context: process, sleeps.
 * Return: 0 or -EFAULT.
 */
int abi_put(void __user *to, const void *from, size_t known, size_t size)
{
	return copy_to_user(to, from, min(known, size)) ? -EFAULT : 0;
}
