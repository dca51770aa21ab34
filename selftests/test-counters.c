// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine's performance counters, as stock Linux offers them: to be run on a CPU
 * that has some, Nehalem's or a later one's, without the module.
 */
#include <errno.h>
#include <kselftest_harness.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lib.h"
#include "programs.h"

#define PAGE_BYTES 4096

#define MSR_PMC0	   0xc1
#define MSR_EVNTSEL0	   0x186
#define MSR_FIXED_CTR_CTRL 0x38d
#define MSR_GLOBAL_STATUS  0x38e
#define MSR_GLOBAL_CTRL	   0x38f
#define MSR_GLOBAL_OVF	   0x390

/* What prog-states does: see there. The last instruction is a syscall. */
#define STATES_INSTRUCTIONS (5 + 10 * (STATES_ROUNDS - 1) + 8 + 3)
#define STATES_TAKEN	    (2 * (STATES_ROUNDS - 1) + 1)

static int counter_open(__u32 type, __u64 config, pid_t pid, bool on_exec)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = on_exec,
		.enable_on_exec = on_exec,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Of prog-states from its first instruction to its last; -1 if it cannot be counted. */
static __s64 count(__u32 type, __u64 config)
{
	const struct program program = { .name = "prog-states" };
	__s64 value = -1;
	int go[2];

	if (pipe(go))
		return -1;
	pid_t pid = fork();

	if (!pid) {
		char path[64], byte;

		if (!program_path(program.name, path, sizeof(path)) || read(go[0], &byte, 1) != 1)
			_exit(1);
		execl(path, path, (char *)NULL);
		_exit(1);
	}
	int fd = counter_open(type, config, pid, true);

	if (write(go[1], "", 1) != 1 || !exited_well(program_wait(pid)) || fd < 0 ||
	    read(fd, &value, sizeof(value)) != sizeof(value))
		value = -1;
	close(fd);
	close(go[0]);
	close(go[1]);
	return value;
}

TEST(a_known_program)
{
	EXPECT_EQ(STATES_INSTRUCTIONS, count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	EXPECT_EQ(STATES_INSTRUCTIONS, count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
	EXPECT_EQ(STATES_INSTRUCTIONS, count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES));
	EXPECT_EQ(3 * (STATES_ROUNDS - 1) + 1 + 1,
		  count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
	EXPECT_EQ(0, count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES));
	EXPECT_EQ(0, count(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES));
}

TEST(kinds_of_branches)
{
	EXPECT_EQ(STATES_ROUNDS, count(PERF_TYPE_RAW, 0x11c4));
	EXPECT_EQ(STATES_ROUNDS - 1, count(PERF_TYPE_RAW, 0x10c4));
	EXPECT_EQ(0, count(PERF_TYPE_RAW, 0x2c4));
	EXPECT_EQ(0, count(PERF_TYPE_RAW, 0x8c4));
	EXPECT_EQ(STATES_TAKEN, count(PERF_TYPE_RAW, 0x20c4));
	EXPECT_EQ(1, count(PERF_TYPE_RAW, 0x40c4));
}

TEST(counter_masks)
{
	/* Cycles with fewer than 16 instructions: all. With two or more: none. */
	EXPECT_EQ(STATES_INSTRUCTIONS, count(PERF_TYPE_RAW, 0x108000c0));
	EXPECT_EQ(0, count(PERF_TYPE_RAW, 0x020000c0));
	EXPECT_EQ(STATES_INSTRUCTIONS, count(PERF_TYPE_RAW, 0x010000c0));
}

FIXTURE(near)
{
	struct perf_event_mmap_page *page;
	__u32 index;
};

FIXTURE_SETUP(near)
{
	int fd = counter_open(PERF_TYPE_RAW, 0xc0, 0, false);

	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, pin_to_cpu(0, 0));
	self->page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->index = self->page->index - 1;
	ASSERT_NE(-1, (int)self->index);
}

FIXTURE_TEARDOWN(near)
{
}

/*
 * How many instructions @text has, which may use @pointer in rsi. There are four more
 * from one RDPMC to the next: the first of them, and what keeps its value.
 */
#define COUNT_OF(index, text, pointer)                                                \
	({                                                                            \
		register __u32 __before asm("r8");                                    \
		register __u32 __index asm("r9") = (index);                           \
		__u32 __after;                                                        \
		asm volatile("mov %%r9d, %%ecx\n\trdpmc\n\tmov %%eax, %%r8d\n\t" text \
			     "\n\tnop\n\tmov %%r9d, %%ecx\n\trdpmc"                   \
			     : "=a"(__after), "=r"(__before)                          \
			     : "r"(__index), "S"(pointer)                             \
			     : "rcx", "rdx", "rdi", "memory", "cc");                  \
		__after - __before - 4;                                               \
	})

TEST_F(near, instructions)
{
	EXPECT_EQ(0, COUNT_OF(self->index, "", 0));
	EXPECT_EQ(1, COUNT_OF(self->index, "nop", 0));
	EXPECT_EQ(5, COUNT_OF(self->index, "nop; nop; jmp 1f; hlt; 1: nop; nop", 0));
}

TEST_F(near, a_repeated_instruction_is_one)
{
	char buffer[4096];

	EXPECT_EQ(3,
		  COUNT_OF(self->index, "mov %%rsi, %%rdi; mov $4096, %%ecx; rep stosb", buffer));
	EXPECT_EQ(3, COUNT_OF(self->index, "mov %%rsi, %%rdi; mov $0, %%ecx; rep stosb", buffer));
}

TEST_F(near, an_instruction_that_faults_first_is_one)
{
	const int prot = PROT_READ | PROT_WRITE;
	char *page = mmap(NULL, PAGE_BYTES, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(3, COUNT_OF(self->index, "nop; movb $1, (%%rsi); nop", page));
}

TEST(reserved_bits_are_refused)
{
	EXPECT_EQ(-ENXIO, msr_write(0, MSR_EVNTSEL0, 1ULL << 32));
	EXPECT_EQ(-ENXIO, msr_write(0, MSR_FIXED_CTR_CTRL, 1ULL << 12));
	EXPECT_EQ(-ENXIO, msr_write(0, MSR_GLOBAL_CTRL, 1ULL << 35));
	EXPECT_EQ(-ENXIO, msr_write(0, MSR_GLOBAL_STATUS, 0));
	EXPECT_EQ(-ENXIO, msr_write(0, MSR_GLOBAL_OVF, 1ULL << 40));
}

TEST(a_general_counter_is_written_with_32_bits)
{
	__u64 value = 0;

	EXPECT_EQ(0, msr_write(0, MSR_PMC0, 0x80000001));
	EXPECT_EQ(0, msr_read(0, MSR_PMC0, &value));
	EXPECT_EQ(0xffff80000001, value);
	EXPECT_EQ(0, msr_write(0, MSR_PMC0, 0));
}

TEST_HARNESS_MAIN
