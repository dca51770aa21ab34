// SPDX-License-Identifier: GPL-2.0-only
/* DEBUGSTORE_IOC_OPEN: what can be wrong with a request, and the sentence about it. */
#include <fcntl.h>
#include <kselftest_harness.h>
#include <sys/ioctl.h>

#include "lib.h"

#define PAGE_BYTES 4096

FIXTURE(open)
{
	int dev;
	pid_t pid;
	pid_t other;
	struct debugstore_info info;
	struct debugstore_open request; /* a good one */
	char why[WHY_BYTES];
};

FIXTURE_SETUP(open)
{
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	self->pid = sleeper_start();
	ASSERT_GT(self->pid, 0);
	/* The first tracer and the last take their time: have one throughout. */
	self->other = sleeper_start();
	ASSERT_GE(tracer_open(self->dev, self->other, DEBUGSTORE_USER, PAGE_BYTES), 0);
	self->info.size = sizeof(self->info);
	ASSERT_EQ(0, ioctl(self->dev, DEBUGSTORE_IOC_INFO, &self->info));
	self->request = (struct debugstore_open){
		.size = sizeof(self->request),
		.pid = self->pid,
		.flags = DEBUGSTORE_USER,
		.buffer_bytes = PAGE_BYTES,
		.why = (uintptr_t)self->why,
		.why_bytes = sizeof(self->why),
	};
}

FIXTURE_TEARDOWN(open)
{
	child_kill(self->pid);
	child_kill(self->other);
	close(self->dev);
}

/* A descriptor is closed again and comes back as 0. */
static int try(FIXTURE_DATA(open) *self, const struct debugstore_open *request)
{
	struct debugstore_open copy = *request;

	memset(self->why, 0x55, sizeof(self->why));
	int tracer = ioctl(self->dev, DEBUGSTORE_IOC_OPEN, &copy);

	if (tracer < 0)
		return -errno;
	close(tracer);
	return 0;
}

/* Also that the next good request is served: a refusal leaves nothing behind. */
#define EXPECT_REFUSED(errno_, request_)                                                   \
	do {                                                                               \
		const struct debugstore_open *bad_ = request_;                             \
		int ret_ = try(self, bad_), expected_ = -(errno_);                         \
		size_t length_ = strnlen(self->why, sizeof(self->why));                    \
		if (ret_ != expected_)                                                     \
			TH_LOG("pid %d, flags %#llx, %#llx bytes", bad_->pid, bad_->flags, \
			       bad_->buffer_bytes);                                        \
		EXPECT_EQ(expected_, ret_);                                                \
		EXPECT_LT(length_, sizeof(self->why));                                     \
		EXPECT_GT(length_, 10);                                                    \
		EXPECT_EQ(0, try(self, &self->request));                                   \
	} while (0)

TEST_F(open, flags)
{
	struct debugstore_open request = self->request;

	request.flags = 0;
	EXPECT_REFUSED(EINVAL, &request);
	for (int bit = 2; bit < 64; bit++) {
		request.flags = DEBUGSTORE_USER | 1ULL << bit;
		EXPECT_REFUSED(EINVAL, &request);
		request.flags = 1ULL << bit;
		EXPECT_REFUSED(EINVAL, &request);
	}
	for (request.flags = 1; request.flags <= 3; request.flags++) {
		EXPECT_EQ(0, try(self, &request));
	}
}

TEST_F(open, reserved)
{
	struct debugstore_open request = self->request;

	for (int bit = 0; bit < 32; bit++) {
		request.reserved = 1U << bit;
		EXPECT_REFUSED(EINVAL, &request);
	}
}

TEST_F(open, pids)
{
	const pid_t negative[] = { -1, -2, -self->pid, INT32_MIN };
	const pid_t nobody[] = { 4194304, 4194305, INT32_MAX };
	struct debugstore_open request = self->request;

	for (size_t i = 0; i < ARRAY_SIZE(negative); i++) {
		request.pid = negative[i];
		EXPECT_REFUSED(EINVAL, &request);
	}
	for (size_t i = 0; i < ARRAY_SIZE(nobody); i++) {
		request.pid = nobody[i];
		EXPECT_REFUSED(ESRCH, &request);
	}
	request.pid = 0;
	EXPECT_EQ(0, try(self, &request));
}

TEST_F(open, the_dead)
{
	struct debugstore_open request = self->request;
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ASSERT_EQ(0, waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	request.pid = pid;
	EXPECT_REFUSED(ESRCH, &request);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_REFUSED(ESRCH, &request);
}

TEST_F(open, buffer_sizes)
{
	const __u64 min = self->info.min_buffer_bytes, max = self->info.max_buffer_bytes;
	const __u64 refused[] = {
		0,	    1,		min - 1,     max + 1,	       max + PAGE_BYTES,
		1ULL << 62, 1ULL << 63, -1ULL << 12, -PAGE_BYTES + 1,  -2ULL,
		-1ULL,	    INT64_MAX,	1ULL << 48,  (1ULL << 63) + 1,
	};
	struct debugstore_open request = self->request;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i] >= min && refused[i] <= max)
			continue;
		request.buffer_bytes = refused[i];
		EXPECT_REFUSED(EINVAL, &request);
	}
	request.buffer_bytes = min;
	EXPECT_EQ(0, try(self, &request));
}

/* As the sentence must fit, whatever room there is for it. */
TEST_F(open, why_is_cut)
{
	struct debugstore_open request = self->request;
	char whole[WHY_BYTES];

	request.flags = 0;
	ASSERT_EQ(-EINVAL, try(self, &request));
	memcpy(whole, self->why, sizeof(whole));
	for (__u32 bytes = 1; bytes < 20; bytes++) {
		request.why_bytes = bytes;
		ASSERT_EQ(-EINVAL, try(self, &request));
		EXPECT_EQ(bytes - 1, strnlen(self->why, bytes));
		EXPECT_EQ(0, memcmp(self->why, whole, bytes - 1));
		EXPECT_EQ(0x55, self->why[bytes]);
	}
	request.why_bytes = 0;
	ASSERT_EQ(-EINVAL, try(self, &request));
	EXPECT_EQ(0x55, self->why[0]);
	request.why = 0;
	request.why_bytes = sizeof(self->why);
	EXPECT_EQ(-EINVAL, try(self, &request));
}

/* A bad place for the sentence does not hide what was wrong. */
TEST_F(open, why_cannot_be_written)
{
	const __u64 places[] = { 8, 0xffff800000000000, 0x8000000000000000, -1ULL };
	struct debugstore_open request = self->request;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		request.why = places[i];
		request.flags = 0;
		EXPECT_EQ(-EINVAL, try(self, &request));
		request.flags = DEBUGSTORE_USER;
		request.pid = INT32_MAX;
		EXPECT_EQ(-ESRCH, try(self, &request));
		/* Nor does it matter when nothing is. */
		request.pid = self->pid;
		EXPECT_EQ(0, try(self, &request));
	}
}

TEST_F(open, a_second_tracer_learns_of_the_first)
{
	struct debugstore_open request = self->request;
	int tracer = tracer_open(self->dev, self->pid, DEBUGSTORE_USER, PAGE_BYTES);
	char holder[32];

	ASSERT_GE(tracer, 0);
	snprintf(holder, sizeof(holder), "%d", getpid());
	EXPECT_EQ(-EBUSY, try(self, &request));
	EXPECT_NE(NULL, strstr(self->why, holder));
	close(tracer);
	EXPECT_EQ(0, try(self, &request));
}

TEST_F(open, the_descriptor_is_close_on_exec)
{
	int tracer = tracer_open(self->dev, self->pid, DEBUGSTORE_USER, PAGE_BYTES);

	ASSERT_GE(tracer, 0);
	EXPECT_EQ(FD_CLOEXEC, fcntl(tracer, F_GETFD));
	close(tracer);
}

TEST_F(open, a_new_one_is_stopped_and_empty)
{
	int tracer = tracer_open(self->dev, 0, DEBUGSTORE_USER, PAGE_BYTES);
	struct debugstore_status status;

	ASSERT_GE(tracer, 0);
	ASSERT_EQ(0, tracer_status(tracer, &status));
	EXPECT_EQ(0, status.state);
	EXPECT_EQ(DEBUGSTORE_USER, status.flags);
	EXPECT_EQ(0, status.records);
	EXPECT_EQ(0, status.switches);
	close(tracer);
}

TEST_F(open, descriptors_run_out)
{
	int last = -1, fd, tracer;

	while ((fd = dup(self->dev)) >= 0)
		last = fd;
	ASSERT_EQ(EMFILE, errno);
	EXPECT_EQ(-EMFILE, try(self, &self->request));
	close(last);
	tracer = tracer_open(self->dev, self->pid, DEBUGSTORE_USER, PAGE_BYTES);
	EXPECT_EQ(last, tracer);
}

TEST_HARNESS_MAIN
