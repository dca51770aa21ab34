// SPDX-License-Identifier: GPL-2.0-only
/* Everything that a caller can get wrong, and what the device says to it. */
#include <kselftest_harness.h>
#include <sys/ioctl.h>

#include "lib.h"

#define PAGE_BYTES 4096

union request {
	__u32 size;
	struct debugstore_info info;
	struct debugstore_open open;
	struct debugstore_status status;
	struct debugstore_read read;
	__u8 bytes[2 * PAGE_BYTES];
};

FIXTURE(input)
{
	int dev;
	int tracer;
	pid_t pid;
	struct debugstore_info info;
	struct debugstore_record record;
	union request request;
};

FIXTURE_SETUP(input)
{
	self->dev = device_open();
	ASSERT_GE(self->dev, 0);
	self->pid = sleeper_start();
	ASSERT_GT(self->pid, 0);
	self->tracer = tracer_open(self->dev, 0, DEBUGSTORE_USER, PAGE_BYTES);
	ASSERT_GE(self->tracer, 0);
	self->info.size = sizeof(self->info);
	ASSERT_EQ(0, ioctl(self->dev, DEBUGSTORE_IOC_INFO, &self->info));
}

FIXTURE_TEARDOWN(input)
{
	child_kill(self->pid);
	close(self->tracer);
	close(self->dev);
}

static int call(int fd, unsigned long number, void *argument)
{
	int ret = ioctl(fd, number, argument);

	return ret < 0 ? -errno : ret;
}

/* The sizes that each structure was first published with. */
static const struct {
	unsigned long number;
	__u32 size;
	bool on_tracer;
} calls[] = {
	{ DEBUGSTORE_IOC_INFO, 32, false },
	{ DEBUGSTORE_IOC_OPEN, 40, false },
	{ DEBUGSTORE_IOC_STATUS, 56, true },
	{ DEBUGSTORE_IOC_READ, 40, true },
};

/* A request that is right but for its size. OPEN's descriptors are closed again. */
static int sized_call(FIXTURE_DATA(input) *self, size_t i, __u32 size, int tail)
{
	union request *request = &self->request;

	memset(request, 0, sizeof(*request));
	if (calls[i].number == DEBUGSTORE_IOC_OPEN) {
		request->open.pid = self->pid;
		request->open.flags = DEBUGSTORE_USER;
		request->open.buffer_bytes = PAGE_BYTES;
	} else if (calls[i].number == DEBUGSTORE_IOC_READ) {
		request->read.records = (uintptr_t)&self->record;
		request->read.max = 1;
	}
	if (tail >= 0)
		request->bytes[tail] = 1;
	request->size = size;
	int ret = call(calls[i].on_tracer ? self->tracer : self->dev, calls[i].number, request);

	if (calls[i].number == DEBUGSTORE_IOC_OPEN && ret >= 0) {
		close(ret);
		ret = 0;
	}
	return ret;
}

TEST_F(input, sizes)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const __u32 size = calls[i].size;
		const struct {
			__u32 size;
			int tail;
			int expected;
		} sizes[] = {
			{ size, -1, 0 },
			{ 0, -1, -EINVAL },
			{ 1, -1, -EINVAL },
			{ 4, -1, -EINVAL },
			{ size - 8, -1, -EINVAL },
			{ size - 1, -1, -EINVAL },
			{ size + 1, -1, 0 },
			{ size + 8, -1, 0 },
			{ PAGE_BYTES, -1, 0 },
			{ size + 1, size, -E2BIG },
			{ size + 8, size + 7, -E2BIG },
			{ PAGE_BYTES, PAGE_BYTES - 1, -E2BIG },
			{ size, size, 0 }, /* what lies behind is not looked at */
			{ PAGE_BYTES + 1, -1, -E2BIG },
			{ 2 * PAGE_BYTES, -1, -E2BIG },
			{ 0x80000000, -1, -E2BIG },
			{ 0xffffffff, -1, -E2BIG },
		};

		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			int ret = sized_call(self, i, sizes[j].size, sizes[j].tail);

			if (ret != sizes[j].expected)
				TH_LOG("call %zu, size %u, tail %d", i, sizes[j].size,
				       sizes[j].tail);
			EXPECT_EQ(sizes[j].expected, ret);
		}
	}
}

TEST_F(input, structures_have_no_holes)
{
	EXPECT_EQ(32, sizeof(struct debugstore_info));
	EXPECT_EQ(40, sizeof(struct debugstore_open));
	EXPECT_EQ(56, sizeof(struct debugstore_status));
	EXPECT_EQ(40, sizeof(struct debugstore_read));
	EXPECT_EQ(24, sizeof(struct debugstore_record));
}

TEST_F(input, only_size_bytes_are_written)
{
	/* INFO and STATUS say how much they filled in; the rest is the caller's. */
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].number == DEBUGSTORE_IOC_OPEN)
			continue;
		ASSERT_EQ(0, sized_call(self, i, calls[i].size, calls[i].size));
		EXPECT_EQ(1, self->request.bytes[calls[i].size]);
		EXPECT_EQ(calls[i].size, self->request.size);
	}
	ASSERT_EQ(0, sized_call(self, 0, PAGE_BYTES, -1));
	EXPECT_EQ(sizeof(struct debugstore_info), self->request.size);
	ASSERT_EQ(0, sized_call(self, 2, PAGE_BYTES, -1));
	EXPECT_EQ(sizeof(struct debugstore_status), self->request.size);
}

TEST_F(input, numbers_of_other_headers)
{
	/* A header of another age gives another size in the number, and the same call. */
	__u8 bytes[512] = {};

	*(__u32 *)bytes = sizeof(struct debugstore_info);
	EXPECT_EQ(0, call(self->dev, _IOWR(DEBUGSTORE_IOC_MAGIC, 0x00, __u8[16]), bytes));
	EXPECT_EQ(0, call(self->dev, _IOWR(DEBUGSTORE_IOC_MAGIC, 0x00, __u8[512]), bytes));
}

TEST_F(input, unknown_numbers)
{
	const unsigned long numbers[] = {
		_IO(DEBUGSTORE_IOC_MAGIC, 0x02),
		_IOWR(DEBUGSTORE_IOC_MAGIC, 0x0f, struct debugstore_info),
		_IO(DEBUGSTORE_IOC_MAGIC, 0x14),
		_IO(DEBUGSTORE_IOC_MAGIC, 0xff),
		_IO('T', 0x01),
		_IOWR('X', 0x00, struct debugstore_info),
		0x12345678,
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		EXPECT_EQ(-ENOTTY, call(self->dev, numbers[i], &self->request));
		EXPECT_EQ(-ENOTTY, call(self->tracer, numbers[i], &self->request));
	}
}

TEST_F(input, the_wrong_descriptor)
{
	const unsigned long tracers[] = { DEBUGSTORE_IOC_START, DEBUGSTORE_IOC_STOP,
					  DEBUGSTORE_IOC_STATUS, DEBUGSTORE_IOC_READ };
	const unsigned long devices[] = { DEBUGSTORE_IOC_INFO, DEBUGSTORE_IOC_OPEN };

	for (size_t i = 0; i < ARRAY_SIZE(tracers); i++) {
		EXPECT_EQ(-ENOTTY, call(self->dev, tracers[i], &self->request));
	}
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		EXPECT_EQ(-ENOTTY, call(self->tracer, devices[i], &self->request));
	}
}

TEST_F(input, bad_pointers)
{
	const int none = PROT_NONE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *unmapped = mmap(NULL, PAGE_BYTES, none, flags, -1, 0);
	void *pointers[] = {
		NULL,
		unmapped,
		(void *)0xffff800000000000,
		(void *)0xffffffff81000000,
		(void *)0x8000000000000000,
		(void *)-8,
	};

	ASSERT_NE(MAP_FAILED, unmapped);
	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(calls); j++) {
			EXPECT_EQ(-EFAULT, call(calls[j].on_tracer ? self->tracer : self->dev,
						calls[j].number, pointers[i]));
		}
	}
}

TEST_F(input, a_structure_that_ends_in_nowhere)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	ASSERT_NE(MAP_FAILED, pages);
	ASSERT_EQ(0, mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		__u32 *size = (void *)(pages + PAGE_BYTES - 8);

		*size = calls[i].size;
		EXPECT_EQ(-EFAULT, call(calls[i].on_tracer ? self->tracer : self->dev,
					calls[i].number, size));
	}
}

/* Readable, not writable: nothing may be left behind. */
TEST_F(input, a_structure_that_cannot_be_written)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	union request *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, flags, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		ASSERT_EQ(0, mprotect(page, sizeof(*page), PROT_READ | PROT_WRITE));
		ASSERT_EQ(0, sized_call(self, i, calls[i].size, -1));
		*page = self->request;
		page->size = calls[i].size;
		ASSERT_EQ(0, mprotect(page, sizeof(*page), PROT_READ));
		EXPECT_EQ(-EFAULT, call(calls[i].on_tracer ? self->tracer : self->dev,
					calls[i].number, page));
	}
	/* The tracer that OPEN had made before it failed is no holder. */
	int tracer = tracer_open(self->dev, self->pid, DEBUGSTORE_USER, PAGE_BYTES);

	EXPECT_GE(tracer, 0);
	close(tracer);
}

TEST_F(input, info_tells_the_truth)
{
	EXPECT_EQ(sizeof(self->info), self->info.size);
	EXPECT_EQ(sizeof(struct debugstore_record), self->info.record_bytes);
	EXPECT_EQ(DEBUGSTORE_USER | DEBUGSTORE_KERNEL, self->info.flags);
	EXPECT_GT(self->info.min_buffer_bytes, 0);
	EXPECT_LE(self->info.min_buffer_bytes, PAGE_BYTES);
	EXPECT_GE(self->info.max_buffer_bytes, 200 << 20);
}

TEST_HARNESS_MAIN
