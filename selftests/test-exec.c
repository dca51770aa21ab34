// SPDX-License-Identifier: GPL-2.0-only
/* A task that executes another program: one that its tracer may see, or may not. */
#include <fcntl.h>
#include <kselftest_harness.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "truth.h"

#define BUFFER_BYTES (48 << 10)
#define PROGRAM	     "prog-states"

FIXTURE(exec)
{
	char dir[32];
	char path[64];
	struct history history;
	struct debugstore_status status;
	int tracer;
};

FIXTURE_VARIANT(exec)
{
	mode_t mode;
	uid_t owner;
	gid_t group;
	bool dropped;
};

FIXTURE_VARIANT_ADD(exec, plain){
	.mode = 0755,
};

FIXTURE_VARIANT_ADD(exec, set_user_id){
	.mode = 04755,
	.dropped = true,
};

FIXTURE_VARIANT_ADD(exec, set_user_id_of_another){
	.mode = 04755,
	.owner = OTHER_UID,
	.dropped = true,
};

FIXTURE_VARIANT_ADD(exec, set_group_id){
	.mode = 02755,
	.dropped = true,
};

FIXTURE_VARIANT_ADD(exec, unreadable){
	.mode = 0711,
	.dropped = true,
};

/* Not nosuid, whatever the guest's other file systems are. */
static int copy_program(FIXTURE_DATA(exec) *self, const FIXTURE_VARIANT(exec) *variant)
{
	char source[256];
	struct stat st;

	strcpy(self->dir, "/tmp/exec-XXXXXX");
	if (!mkdtemp(self->dir) || mount("tmpfs", self->dir, "tmpfs", 0, "mode=755"))
		return -errno;
	snprintf(self->path, sizeof(self->path), "%s/program", self->dir);
	if (!program_path(PROGRAM, source, sizeof(source)))
		return -ENOENT;
	int in = open(source, O_RDONLY), out = open(self->path, O_WRONLY | O_CREAT | O_EXCL, 0700);

	if (in < 0 || out < 0 || fstat(in, &st))
		return -errno;
	if (sendfile(out, in, NULL, st.st_size) != st.st_size)
		return -EIO;
	close(in);
	close(out);
	if (chown(self->path, variant->owner, variant->group) || chmod(self->path, variant->mode))
		return -errno;
	return 0;
}

FIXTURE_SETUP(exec)
{
	char byte;
	int gate[2];

	ASSERT_EQ(0, copy_program(self, variant));
	ASSERT_EQ(0, pipe(gate));
	ASSERT_EQ(0, become_user(USER_UID));

	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (read(gate[0], &byte, 1) == 1)
			execl(self->path, self->path, NULL);
		_exit(126);
	}
	ASSERT_GT(pid, 0);

	int dev = device_open();

	ASSERT_GE(dev, 0);
	self->tracer = tracer_open(dev, pid, DEBUGSTORE_USER, BUFFER_BYTES);
	ASSERT_GE(self->tracer, 0);
	ASSERT_EQ(0, tracer_start(self->tracer));
	ASSERT_EQ(1, write(gate[1], "", 1));
	ASSERT_TRUE(exited_well(program_wait(pid)));
	ASSERT_EQ(0, tracer_status(self->tracer, &self->status));
	ASSERT_EQ(0, history_read(self->tracer, &self->history));
}

FIXTURE_TEARDOWN(exec)
{
	close(self->tracer);
	history_free(&self->history);
}

TEST_F(exec, is_seen_if_it_may_be)
{
	__u64 start = program_symbol(PROGRAM, "_start") & ~0xffffULL;
	size_t of_program = 0, of_others = 0;

	for (size_t i = 0; i < self->history.count; i++) {
		const struct debugstore_record *record = &self->history.records[i];
		bool is_program =
			(record->to & ~0xffffULL) == start || (record->from & ~0xffffULL) == start;

		EXPECT_FALSE(is_kernel(record->from));
		EXPECT_FALSE(is_kernel(record->to));
		of_program += is_program;
		of_others += !is_program;
	}
	EXPECT_EQ(variant->dropped ? DEBUGSTORE_DROPPED : 0,
		  self->status.state & DEBUGSTORE_DROPPED);
	EXPECT_EQ(self->status.state, self->history.state);
	EXPECT_EQ(0, self->status.state & DEBUGSTORE_RUNNING & -variant->dropped);
	if (variant->dropped) {
		EXPECT_EQ(0, of_program);
		/* What went before is kept. */
		EXPECT_GT(of_others, 0);
	} else {
		EXPECT_GT(of_program, 1000);
	}
}

TEST_F(exec, cannot_be_started_again)
{
	EXPECT_EQ(-ESRCH, tracer_start(self->tracer));
	EXPECT_EQ(0, tracer_stop(self->tracer));
	EXPECT_EQ(0, tracer_status(self->tracer, &self->status));
}

TEST_HARNESS_MAIN
