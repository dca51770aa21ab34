// SPDX-License-Identifier: GPL-2.0-only
#include "history.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "util.h"

#define DEVICE "/dev/debugstore"

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	switch (errno) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		warnx("there is no " DEVICE ": debugstore.ko is not loaded");
		warnx("load it as root with 'insmod debugstore.ko'; if it refuses, dmesg says why");
		break;
	case EACCES:
	case EPERM:
		warnx(DEVICE " may not be opened by you: it takes read and write permission on it");
		break;
	default:
		warn("cannot open " DEVICE);
	}
	return -1;
}

static void hint_at_memlock(uint64_t buffer_bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return;
	warnx("%ju KiB were asked for, 'ulimit -l' allows %ju KiB: give less with -s, or raise it",
	      (uintmax_t)(buffer_bytes + 1023) / 1024, (uintmax_t)limit.rlim_cur / 1024);
}

int history_open(pid_t pid, uint64_t buffer_bytes)
{
	_cleanup_close_ int device = open_device();
	if (device < 0)
		return -1;

	char why[256] = "";
	struct debugstore_open request = {
		.size = sizeof(request),
		.pid = pid,
		.flags = DEBUGSTORE_USER,
		.buffer_bytes = buffer_bytes,
		.why = (uintptr_t)why,
		.why_bytes = sizeof(why),
	};
	int tracer = ioctl(device, DEBUGSTORE_IOC_OPEN, &request);
	if (tracer >= 0)
		return tracer;

	int error = errno;
	warnx("cannot record branches: %s", why[0] ? why : strerror(error));
	if (error == ENOMEM && !why[0])
		hint_at_memlock(buffer_bytes);
	return -1;
}

static bool get_status(int tracer, struct debugstore_status *status_ret)
{
	*status_ret = (struct debugstore_status){ .size = sizeof(*status_ret) };
	return ioctl(tracer, DEBUGSTORE_IOC_STATUS, status_ret) == 0;
}

bool history_start(int tracer)
{
	if (ioctl(tracer, DEBUGSTORE_IOC_START) == 0)
		return true;

	int error = errno;
	struct debugstore_status status;
	if (error == ESRCH && get_status(tracer, &status) && status.state & DEBUGSTORE_DROPPED)
		warnx("cannot record a program that is set-user-ID, set-group-ID or not readable");
	else
		warnx("cannot start recording: %s", strerror(error));
	return false;
}

bool history_read(int tracer, uint64_t last, struct history *history_ret)
{
	if (ioctl(tracer, DEBUGSTORE_IOC_STOP)) {
		warn("cannot stop recording");
		return false;
	}
	struct debugstore_status status;
	if (!get_status(tracer, &status)) {
		warn("cannot ask how many branches were recorded");
		return false;
	}

	uint64_t max = last < status.records ? last : status.records;
	_cleanup_free_ struct debugstore_record *records =
		calloc(max ? max : 1, sizeof(struct debugstore_record));
	if (!records) {
		warnx("no memory for %ju branches; ask for fewer with -n", (uintmax_t)max);
		return false;
	}
	struct debugstore_read request = {
		.size = sizeof(request),
		.records = (uintptr_t)records,
		.max = max,
	};
	int result;
	do {
		result = ioctl(tracer, DEBUGSTORE_IOC_READ, &request);
	} while (result && errno == EINTR);
	if (result) {
		warn("cannot read the branches");
		return false;
	}

	*history_ret = (struct history){
		.records = records,
		.count = request.count < max ? request.count : max,
		.held = request.held,
		.state = request.state,
	};
	records = NULL;
	return true;
}
