// SPDX-License-Identifier: GPL-2.0-only
#include "lib.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER_ADDRESSES (1ULL << 47)

int device_open(void)
{
	int fd = open("/dev/debugstore", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int tracer_try(int dev, pid_t pid, __u64 flags, __u64 buffer_bytes, char *why)
{
	struct debugstore_open open = {
		.size = sizeof(open),
		.pid = pid,
		.flags = flags,
		.buffer_bytes = buffer_bytes,
		.why = (uintptr_t)why,
		.why_bytes = why ? WHY_BYTES : 0,
	};
	int fd = ioctl(dev, DEBUGSTORE_IOC_OPEN, &open);

	return fd < 0 ? -errno : fd;
}

int tracer_open(int dev, pid_t pid, __u64 flags, __u64 buffer_bytes)
{
	char why[WHY_BYTES] = "";
	int tracer = tracer_try(dev, pid, flags, buffer_bytes, why);

	if (tracer < 0)
		fprintf(stderr, "# no tracer for %d: %s: %s\n", pid, strerror(-tracer), why);
	return tracer;
}

int tracer_start(int tracer)
{
	return ioctl(tracer, DEBUGSTORE_IOC_START) ? -errno : 0;
}

int tracer_stop(int tracer)
{
	return ioctl(tracer, DEBUGSTORE_IOC_STOP) ? -errno : 0;
}

int tracer_status(int tracer, struct debugstore_status *status_ret)
{
	*status_ret = (struct debugstore_status){ .size = sizeof(*status_ret) };
	return ioctl(tracer, DEBUGSTORE_IOC_STATUS, status_ret) ? -errno : 0;
}

int history_read(int tracer, struct history *history_ret)
{
	struct debugstore_status status;
	struct debugstore_read read = { .size = sizeof(read) };
	int err = tracer_status(tracer, &status);

	if (err)
		return err;
	struct debugstore_record *records = calloc(status.capacity, sizeof(*records));

	if (!records)
		return -ENOMEM;
	read.records = (uintptr_t)records;
	read.max = status.capacity;
	if (ioctl(tracer, DEBUGSTORE_IOC_READ, &read)) {
		err = -errno;
		free(records);
		return err;
	}
	*history_ret = (struct history){
		.records = records,
		.count = read.count,
		.held = read.held,
		.state = read.state,
	};
	return 0;
}

void history_free(struct history *history)
{
	free(history->records);
	*history = (struct history){};
}

bool is_kernel(__u64 address)
{
	return address >= USER_ADDRESSES;
}

bool from_kernel(const struct debugstore_record *record)
{
	return record->flags & DEBUGSTORE_FROM_HIDDEN || is_kernel(record->from);
}

bool to_kernel(const struct debugstore_record *record)
{
	return record->flags & DEBUGSTORE_TO_HIDDEN || is_kernel(record->to);
}

static void program_exec(const struct program *program, const char *path)
{
	char *argv[] = { (char *)program->name, NULL };
	char *envp[] = { NULL };
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(program->in ?: null, STDIN_FILENO);
	dup2(program->out ?: null, STDOUT_FILENO);
	/* The same descriptors for everyone: their numbers may steer a library. */
	if (syscall(SYS_close_range, 3U, ~0U, 0U))
		return;
	if (personality(ADDR_NO_RANDOMIZE) < 0)
		return;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return;
	execve(path, argv, envp);
}

pid_t program_start(const struct program *program)
{
	char path[PATH_MAX];
	int status;

	if (!program_path(program->name, path, sizeof(path)))
		return -1;
	pid_t pid = fork();

	if (!pid) {
		program_exec(program, path);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		return -1;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL)) {
		child_kill(pid);
		return -1;
	}
	return pid;
}

int program_release(pid_t pid)
{
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) ? -errno : 0;
}

int program_wait(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

bool exited_well(int status)
{
	return status != -1 && WIFEXITED(status) && !WEXITSTATUS(status);
}

pid_t sleeper_start(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

void child_kill(pid_t pid)
{
	if (pid > 0 && !kill(pid, SIGKILL))
		program_wait(pid);
}

bool program_path(const char *name, char *path, size_t bytes)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return false;
	self[n] = '\0';
	char *slash = strrchr(self, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return (size_t)snprintf(path, bytes, "%s/%s", self, name) < bytes && !access(path, X_OK);
}

static __u64 elf_symbol(const char *elf, const char *symbol)
{
	const Elf64_Ehdr *header = (const void *)elf;
	const Elf64_Shdr *sections = (const void *)(elf + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		const Elf64_Sym *symbols = (const void *)(elf + sections[i].sh_offset);
		const char *names = elf + sections[sections[i].sh_link].sh_offset;

		for (size_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++) {
			if (!strcmp(names + symbols[j].st_name, symbol))
				return symbols[j].st_value;
		}
	}
	return 0;
}

__u64 program_symbol(const char *name, const char *symbol)
{
	char path[PATH_MAX];
	struct stat st;

	if (!program_path(name, path, sizeof(path)))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (fstat(fd, &st)) {
		close(fd);
		return 0;
	}
	void *elf = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	if (elf == MAP_FAILED)
		return 0;
	__u64 address = elf_symbol(elf, symbol);

	munmap(elf, st.st_size);
	return address;
}

int become_user(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return -errno;
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

int pin_to_cpu(pid_t pid, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) ? -errno : 0;
}

unsigned int cpus_online(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

int module_load(void)
{
	const char *path = getenv("DEBUGSTORE_MODULE") ?: "/lib/modules/debugstore.ko";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	int err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;

	close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "debugstore", O_NONBLOCK) ? -errno : 0;
}

static int msr_open(unsigned int cpu, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	int fd = open(path, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int msr_read(unsigned int cpu, __u32 msr, __u64 *value_ret)
{
	int err = 0, fd = msr_open(cpu, O_RDONLY);

	if (fd < 0)
		return fd;
	if (pread(fd, value_ret, sizeof(*value_ret), msr) != sizeof(*value_ret))
		err = errno == EIO ? -ENXIO : -errno;
	close(fd);
	return err;
}

int msr_write(unsigned int cpu, __u32 msr, __u64 value)
{
	int err = 0, fd = msr_open(cpu, O_WRONLY);

	if (fd < 0)
		return fd;
	if (pwrite(fd, &value, sizeof(value), msr) != sizeof(value))
		err = errno == EIO ? -ENXIO : -errno;
	close(fd);
	return err;
}
