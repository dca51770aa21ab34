// SPDX-License-Identifier: GPL-2.0-only
/* A hundred lives of the module, and what is left in the CPUs after each. */
#include <kselftest_harness.h>

#include "truth.h"

#define MSR_DEBUGCTL 0x1d9
#define MSR_DS_AREA  0x600
#define DEBUGCTL_DS  (1U << 6 | 1U << 7 | 1U << 8 | 1U << 9 | 1U << 10)

#define BUFFER_BYTES (64 << 10)
#define ROUNDS	     100

#define EXPECT_CLEAN_CPUS()                                                     \
	do {                                                                    \
		for (unsigned int cpu_ = 0; cpu_ < cpus_online(); cpu_++) {     \
			__u64 area_ = ~0ULL, debugctl_ = ~0ULL;                 \
			EXPECT_EQ(0, msr_read(cpu_, MSR_DS_AREA, &area_));      \
			EXPECT_EQ(0, area_);                                    \
			EXPECT_EQ(0, msr_read(cpu_, MSR_DEBUGCTL, &debugctl_)); \
			EXPECT_EQ(0, debugctl_ &DEBUGCTL_DS);                   \
		}                                                               \
	} while (0)

/* The history of a whole program, compared. */
static int trace(void)
{
	const struct program program = { .name = "prog-states" };
	struct history history;
	struct truth truth;
	int dev = device_open();
	pid_t pid = program_start(&program);
	int tracer = tracer_open(dev, pid, DEBUGSTORE_USER, BUFFER_BYTES);

	close(dev);
	if (tracer < 0)
		return tracer;
	int err = tracer_start(tracer) ?: program_release(pid);

	program_wait(pid);
	err = err ?: history_read(tracer, &history) ?: states_compute(&truth);
	close(tracer);
	if (err)
		return err;
	err = truth_compare(&truth, truth.count - history_branches(&history), history.records,
			    history.count);
	history_free(&history);
	truth_free(&truth);
	return err;
}

TEST(a_hundred_lives)
{
	ASSERT_EQ(0, module_unload());
	EXPECT_CLEAN_CPUS();
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, module_load());
		if (!(i % 10)) {
			ASSERT_EQ(0, trace());
		}
		ASSERT_EQ(0, module_unload());
		ASSERT_EQ(-ENOENT, device_open());
		EXPECT_CLEAN_CPUS();
	}
	EXPECT_EQ(0, module_load());
}

/* With no tracer open, nobody would notice that the module is there. */
TEST(an_idle_module_touches_nothing)
{
	EXPECT_CLEAN_CPUS();
	ASSERT_EQ(0, trace());
	EXPECT_CLEAN_CPUS();
}

/* perf, say, or a hypervisor that traces us. It must not notice us either. */
TEST(another_drivers_area_is_left_alone)
{
	const __u64 others = 0xffff888000001000;
	char why[WHY_BYTES];
	__u64 area = 0;
	int dev = device_open();

	ASSERT_GE(dev, 0);
	ASSERT_EQ(0, msr_write(0, MSR_DS_AREA, others));
	EXPECT_EQ(-EBUSY, tracer_try(dev, 0, DEBUGSTORE_USER, BUFFER_BYTES, why));
	EXPECT_NE(NULL, strstr(why, "IA32_DS_AREA"));
	close(dev);
	EXPECT_EQ(0, module_unload());
	EXPECT_EQ(-EBUSY, module_load());
	EXPECT_EQ(0, msr_read(0, MSR_DS_AREA, &area));
	EXPECT_EQ(others, area);
	EXPECT_EQ(0, msr_write(0, MSR_DS_AREA, 0));
	EXPECT_EQ(0, module_load());
	EXPECT_EQ(0, trace());
}

TEST(it_does_not_load_twice)
{
	EXPECT_EQ(-EEXIST, module_load());
}

TEST_HARNESS_MAIN
