/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests share: tracers, traced programs, the files around them. */
#ifndef SELFTESTS_LIB_H
#define SELFTESTS_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/types.h>

#include <debugstore.h>

#define HARDWARE_RECORD_BYTES 24
#define WHY_BYTES	      160
#define USER_UID	      1000
#define OTHER_UID	      1001

/* The harness allows a test 30 seconds, too few for a busy emulated machine. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 240

struct history {
	struct debugstore_record *records;
	__u64 count;
	__u64 held;
	__u32 state;
};

/* How to start a program; it gets no environment, and addresses are not random. */
struct program {
	const char *name; /* beside the test */
	int in;
	int out; /* 0: /dev/null, for both */
};

/* These return a descriptor or a negative errno. */
int device_open(void);
int tracer_open(int dev, pid_t pid, __u64 flags, __u64 buffer_bytes);
/* Where it may be refused: what was wrong is put into @why, if that is not NULL. */
int tracer_try(int dev, pid_t pid, __u64 flags, __u64 buffer_bytes, char *why);

/* These return 0 or a negative errno. */
int tracer_start(int tracer);
int tracer_stop(int tracer);
int tracer_status(int tracer, struct debugstore_status *status_ret);
int history_read(int tracer, struct history *history_ret);
void history_free(struct history *history);

bool is_kernel(__u64 address);
/* Whether the record tells of a way out of the kernel, hidden or not. */
bool from_kernel(const struct debugstore_record *record);
bool to_kernel(const struct debugstore_record *record);

/* A child that stops at its exec, traced by ptrace, or -1. */
pid_t program_start(const struct program *program);
/* Let it go. */
int program_release(pid_t pid);
/* Its wait status, or -1. */
int program_wait(pid_t pid);
bool exited_well(int status);

/* A child that waits in pause() until killed. */
pid_t sleeper_start(void);
void child_kill(pid_t pid);

/* Its path in @path; false if it is not there. */
bool program_path(const char *name, char *path, size_t bytes);
/* The address of @symbol in the program, 0 if there is none. */
__u64 program_symbol(const char *name, const char *symbol);

/* The calling process, for good, and dumpable. */
int become_user(uid_t uid);
int pin_to_cpu(pid_t pid, unsigned int cpu);
unsigned int cpus_online(void);

/* Insert and remove debugstore.ko; 0 or a negative errno. */
int module_load(void);
int module_unload(void);
/* 0 or a negative errno; -ENXIO where there is no such MSR. */
int msr_read(unsigned int cpu, __u32 msr, __u64 *value_ret);
int msr_write(unsigned int cpu, __u32 msr, __u64 value);

#endif /* SELFTESTS_LIB_H */
