/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/debugstore: the branch history of a task, as Intel's Debug Store wrote it.
 *
 * Two kinds of file descriptor
 * ----------------------------
 * The device, open("/dev/debugstore", O_RDWR), answers DEBUGSTORE_IOC_INFO and
 * DEBUGSTORE_IOC_OPEN. OPEN makes a tracer and returns a new descriptor for it,
 * close-on-exec. The tracer descriptor answers START, STOP, STATUS and READ.
 * A tracer lives until its last descriptor is closed; nothing else ends it, so
 * the history is still there when the task is dead.
 *
 * A new tracer is stopped. START and STOP switch the recording on and off and
 * keep what was recorded. The buffer is circular: the oldest records make room
 * for the newest.
 *
 * Structures
 * ----------
 * Every structure starts with its own size in bytes, as the caller knows it.
 * Structures grow only at their end. A kernel that knows more reads the missing
 * fields as zero and writes only @size bytes; a kernel that knows less refuses
 * (E2BIG) unless the fields it does not know are zero. So that numbers outlive
 * growth, a call is known by its type and number; the size in its ioctl number is
 * that of the caller's header. Reserved fields must be zero. All fields have the
 * same place and width for 32-bit and 64-bit callers. Pointers are passed as
 * __u64.
 *
 * Permission
 * ----------
 * A task may be traced by whoever may ptrace-attach to it, security modules
 * included. DEBUGSTORE_KERNEL needs CAP_PERFMON or CAP_SYS_ADMIN as well. A
 * tracer opened without one of these never sees a kernel address: the record of
 * a return to user mode, say, has its @from zeroed and says so in its flags.
 * The rights are looked at when the tracer is opened. A task that executes a
 * set-user-ID, set-group-ID or unreadable program leaves its tracer for good;
 * what had been recorded before stays readable.
 *
 * Memory
 * ------
 * The buffer is charged to the opener's user against RLIMIT_MEMLOCK, unless the
 * opener has CAP_IPC_LOCK, and given back at close.
 */
#ifndef _UAPI_DEBUGSTORE_H
#define _UAPI_DEBUGSTORE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Which branches: the privilege level after the branch counts. */
#define DEBUGSTORE_USER		(1ULL << 0)
#define DEBUGSTORE_KERNEL	(1ULL << 1)

/**
 * struct debugstore_info - what this machine offers (DEBUGSTORE_IOC_INFO)
 * @size: in: bytes the caller has room for; out: bytes filled in
 * @record_bytes: sizeof(struct debugstore_record)
 * @flags: the flags that DEBUGSTORE_IOC_OPEN knows and this CPU can serve
 * @min_buffer_bytes: smallest buffer, in bytes
 * @max_buffer_bytes: largest buffer, in bytes; RLIMIT_MEMLOCK may be less
 */
struct debugstore_info {
	__u32 size;
	__u32 record_bytes;
	__u64 flags;
	__u64 min_buffer_bytes;
	__u64 max_buffer_bytes;
};

/**
 * struct debugstore_open - make a tracer (DEBUGSTORE_IOC_OPEN)
 * @size: sizeof(struct debugstore_open)
 * @pid: thread to trace, in the caller's pid namespace; 0: the calling thread
 * @flags: DEBUGSTORE_USER, DEBUGSTORE_KERNEL or both
 * @buffer_bytes: in: hardware buffer wanted, in bytes; out: what it is, rounded
 *	up to whole pages
 * @why: address of a buffer that gets one sentence, NUL-terminated and cut to
 *	@why_bytes, when the call fails: what was wrong and what would be right.
 *	Zero for none.
 * @why_bytes: size of that buffer; 160 is enough
 * @reserved: must be zero
 *
 * Returns the new descriptor, or an error:
 *
 * EINVAL: a size, flag, pid, reserved field or buffer size that cannot be
 * E2BIG: fields this kernel does not know are not zero
 * ESRCH: no such thread, or it is exiting
 * EPERM: a kernel thread, or DEBUGSTORE_KERNEL without the right to it
 * EACCES: the caller may not ptrace the thread
 * EBUSY: the thread has a tracer, or something else drives the Debug Store
 * ENOMEM: RLIMIT_MEMLOCK reached, or no memory
 * EOPNOTSUPP: this CPU cannot record what @flags ask for
 * EFAULT: the structure itself cannot be read or written
 * EMFILE, ENFILE: no descriptor left
 */
struct debugstore_open {
	__u32 size;
	__s32 pid;
	__u64 flags;
	__u64 buffer_bytes;
	__u64 why;
	__u32 why_bytes;
	__u32 reserved;
};

/* State of a tracer, in debugstore_status and debugstore_read. */
#define DEBUGSTORE_RUNNING	(1U << 0)	/* started, not stopped */
#define DEBUGSTORE_WRAPPED	(1U << 1)	/* filled up: older records may be gone */
#define DEBUGSTORE_EXITED	(1U << 2)	/* the thread is dead */
#define DEBUGSTORE_DROPPED	(1U << 3)	/* an exec took the right to trace */

/**
 * struct debugstore_status - how a tracer stands (DEBUGSTORE_IOC_STATUS)
 * @size: in: bytes the caller has room for; out: bytes filled in
 * @state: DEBUGSTORE_RUNNING and the others
 * @flags: as opened
 * @buffer_bytes: hardware buffer, in bytes
 * @capacity: records that fit into it
 * @records: records in it now
 * @switches: times the thread was switched in, or started, while traced
 * @charged_bytes: charged against RLIMIT_MEMLOCK; 0 if the opener was exempt
 *
 * Of a running thread, @records is a glimpse.
 */
struct debugstore_status {
	__u32 size;
	__u32 state;
	__u64 flags;
	__u64 buffer_bytes;
	__u64 capacity;
	__u64 records;
	__u64 switches;
	__u64 charged_bytes;
};

/* What a record is. Skip types you do not know: more may come. */
#define DEBUGSTORE_BRANCH	0U

/* Flags of a DEBUGSTORE_BRANCH record. */
#define DEBUGSTORE_FROM_HIDDEN	(1U << 0)	/* @from was a kernel address */
#define DEBUGSTORE_TO_HIDDEN	(1U << 1)	/* @to was a kernel address */
#define DEBUGSTORE_PREDICTED	(1U << 2)	/* as the CPU predicted */

/**
 * struct debugstore_record - one entry of the history
 * @from: linear address of the branch instruction; for an interrupt or a fault,
 *	of the instruction it came before or at
 * @to: linear address the branch went to
 * @type: DEBUGSTORE_BRANCH
 * @flags: DEBUGSTORE_FROM_HIDDEN and the others
 */
struct debugstore_record {
	__u64 from;
	__u64 to;
	__u32 type;
	__u32 flags;
};

/**
 * struct debugstore_read - copy the history (DEBUGSTORE_IOC_READ)
 * @size: sizeof(struct debugstore_read)
 * @state: out: DEBUGSTORE_RUNNING and the others, at the time of the copy
 * @records: address of an array of struct debugstore_record
 * @max: in: how many fit into it
 * @count: out: how many were copied
 * @held: out: how many there were
 *
 * Copies the newest @max records, oldest first. Nothing is consumed: the same
 * call again gives the same records. A running thread is not recorded while the
 * copy is made, and goes on being recorded after it, whether it failed or not.
 *
 * Returns 0 or an error: EINVAL, E2BIG as above; EFAULT: the structure or part of
 * the array cannot be written, nothing is lost; EINTR: a signal came first.
 */
struct debugstore_read {
	__u32 size;
	__u32 state;
	__u64 records;
	__u64 max;
	__u64 count;
	__u64 held;
};

#define DEBUGSTORE_IOC_MAGIC	0xd5

/* On the device. */
#define DEBUGSTORE_IOC_INFO	_IOWR(DEBUGSTORE_IOC_MAGIC, 0x00, struct debugstore_info)
#define DEBUGSTORE_IOC_OPEN	_IOWR(DEBUGSTORE_IOC_MAGIC, 0x01, struct debugstore_open)

/*
 * On a tracer. START on a thread that is dead or was dropped is ESRCH; on one
 * that runs already, and STOP on one that does not, nothing. STATUS and READ
 * can be asked at any time.
 */
#define DEBUGSTORE_IOC_START	_IO(DEBUGSTORE_IOC_MAGIC, 0x10)
#define DEBUGSTORE_IOC_STOP	_IO(DEBUGSTORE_IOC_MAGIC, 0x11)
#define DEBUGSTORE_IOC_STATUS	_IOWR(DEBUGSTORE_IOC_MAGIC, 0x12, struct debugstore_status)
#define DEBUGSTORE_IOC_READ	_IOWR(DEBUGSTORE_IOC_MAGIC, 0x13, struct debugstore_read)

#endif /* _UAPI_DEBUGSTORE_H */
