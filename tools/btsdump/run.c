// SPDX-License-Identifier: GPL-2.0-only
#include "run.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "capture.h"
#include "util.h"

struct run {
	const struct options *options;
	struct outcome *outcome;
	int tracer;
	bool attached; /* not our child */
	bool detaching; /* asked it to stop, to let it go */
	bool failed;
	uint64_t entry; /* of the program executed last, if there was one before */
	uint64_t rsp; /* where outcome->signal was taken */
};

enum next { NEXT_WAIT, NEXT_DONE };

bool outcome_wanted(const struct outcome *outcome, const struct options *options)
{
	if (!outcome->started)
		return false;
	return options->always || outcome->end != END_DIED || WIFSIGNALED(outcome->status);
}

void outcome_release(struct outcome *outcome)
{
	free(outcome->program);
	free(outcome->history.records);
	symbols_close(outcome->symbols);
}

static long get_proc_status(pid_t pid, const char *field)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	char line[256];
	while (file && fgets(line, sizeof(line), file)) {
		size_t length = strlen(field);
		if (strncmp(line, field, length) == 0 && line[length] == ':')
			return strtol(line + length + 1, NULL, 10);
	}
	return 0;
}

static bool has_other_threads(pid_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return stat(path, &st) == 0 && st.st_nlink > 2 + 1;
}

static void do_capture(struct run *run, bool alive)
{
	if (!run->outcome->captured && !run->failed)
		run->failed =
			!capture(run->outcome, run->tracer, run->options->last, run->entry, alive);
}

/* The tracee may be killed at any time: ESRCH then, and wait() will tell. */
static void resume(const struct run *run, int signal)
{
	ptrace(PTRACE_CONT, run->outcome->pid, NULL, (void *)(intptr_t)signal);
}

static void on_exec(struct run *run, pid_t pid)
{
	/* A thread that executes a program takes the number of its process. */
	run->outcome->pid = pid;
	if (!run->outcome->started) {
		if (history_start(run->tracer))
			run->outcome->started = true;
		else
			run->failed = true;
		return;
	}
	struct user_regs_struct registers;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0)
		run->entry = registers.rip;
}

static void on_signal(struct run *run, pid_t pid)
{
	struct outcome *outcome = run->outcome;
	struct user_regs_struct registers;

	outcome->signal.si_signo = 0;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers))
		return;
	outcome->rip = registers.rip;
	run->rsp = registers.rsp;
	if (ptrace(PTRACE_GETSIGINFO, pid, NULL, &outcome->signal))
		outcome->signal.si_signo = 0;
}

static void on_exit_event(struct run *run, pid_t pid)
{
	struct outcome *outcome = run->outcome;
	unsigned long message = 0;
	ptrace(PTRACE_GETEVENTMSG, pid, NULL, &message);
	outcome->thread_status = (int)message;

	/* A signal that was handled is not the one that killed: the thread moved on. */
	struct user_regs_struct registers;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) || registers.rip != outcome->rip ||
	    registers.rsp != run->rsp)
		outcome->signal.si_signo = 0;

	if (outcome->started &&
	    (run->options->always || WIFSIGNALED(outcome->thread_status) || has_other_threads(pid)))
		do_capture(run, true);
}

static bool is_stop_signal(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * The shell that started us sees only us: stop as well, so that it takes the terminal
 * back. Not for SIGSTOP, which is not the terminal's, nor in another process group.
 */
static void stop_with(const struct run *run, int signal)
{
	pid_t pid = run->outcome->pid;
	if (run->attached || signal == SIGSTOP || getpgid(pid) != getpgrp())
		return;
	raise(SIGSTOP);
	kill(pid, SIGCONT);
}

static enum next on_stop(struct run *run, pid_t pid, int status)
{
	int signal = WSTOPSIG(status);
	int event = status >> 16;

	switch (event) {
	case 0:
		on_signal(run, pid);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(run, pid);
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(run, pid);
		break;
	}
	if (run->failed && !run->attached)
		return NEXT_DONE;
	if (run->detaching && event != PTRACE_EVENT_EXIT) {
		do_capture(run, true);
		run->outcome->end = END_DETACHED;
		ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(event ? 0 : signal));
		return NEXT_DONE;
	}
	if (event == PTRACE_EVENT_STOP && is_stop_signal(signal)) {
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
		stop_with(run, signal);
	} else {
		resume(run, event ? 0 : signal);
	}
	return NEXT_WAIT;
}

static enum next wait_events(struct run *run)
{
	struct outcome *outcome = run->outcome;
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
		if (pid == 0)
			return NEXT_WAIT;
		if (pid < 0) {
			outcome->end = END_REPLACED;
			return NEXT_DONE;
		}
		bool is_exec = WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC;
		if (pid != outcome->pid && !is_exec)
			continue;
		if (!WIFSTOPPED(status)) {
			outcome->end = END_DIED;
			outcome->status = status;
			return NEXT_DONE;
		}
		if (on_stop(run, pid, status) == NEXT_DONE)
			return NEXT_DONE;
	}
}

static enum next on_own_signal(struct run *run, const siginfo_t *info)
{
	struct outcome *outcome = run->outcome;
	if (!run->attached) {
		/* What the terminal sends, it sends to the program as well. */
		bool sent = info->si_code <= 0 && info->si_pid != outcome->pid;
		if (sent && !is_stop_signal(info->si_signo))
			kill(outcome->pid, info->si_signo);
		return NEXT_WAIT;
	}
	if (!run->detaching) {
		run->detaching = true;
		ptrace(PTRACE_INTERRUPT, outcome->pid, NULL, NULL);
		return NEXT_WAIT;
	}
	/* It does not stop, in some long system call: our exit lets it go. */
	do_capture(run, true);
	outcome->end = END_DETACHED;
	return NEXT_DONE;
}

static bool follow(struct run *run, const sigset_t *signals)
{
	for (;;) {
		/*
		 * No SIGCHLD tells that another thread's execve() has replaced the one that
		 * was traced: look now and then, once that one has exited.
		 */
		const struct timespec second = { .tv_sec = 1 };
		siginfo_t info;
		int signal = sigtimedwait(signals, &info, &second);
		if (signal > 0 && signal != SIGCHLD) {
			if (on_own_signal(run, &info) == NEXT_DONE)
				break;
		} else if (wait_events(run) == NEXT_DONE) {
			break;
		}
	}
	if (outcome_wanted(run->outcome, run->options))
		do_capture(run, false);
	return !run->failed;
}

/* All are taken with sigtimedwait(), so none comes between a check and a wait. */
static void take_signals(bool attached, sigset_t *signals_ret, sigset_t *old_mask_ret,
			 struct sigaction *old_child_ret)
{
	sigset_t *signals = signals_ret;
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGQUIT);
	sigaddset(signals, SIGTERM);
	struct sigaction hangup;
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN) /* not under nohup(1) */
		sigaddset(signals, SIGHUP);
	if (!attached) {
		sigaddset(signals, SIGTSTP);
		sigaddset(signals, SIGTTIN);
		sigaddset(signals, SIGTTOU);
	}
	sigprocmask(SIG_BLOCK, signals, old_mask_ret);
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &by_default, old_child_ret);
}

static bool seize(pid_t pid, unsigned long options)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options) == 0)
		return true;
	int error = errno;
	long other = get_proc_status(pid, "TracerPid");
	if (error == ESRCH)
		warnx("-p %d: there is no such thread", pid);
	else if (other)
		warnx("cannot trace pid %d: pid %ld traces it already; let that one go first", pid,
		      other);
	else
		warnx("cannot trace pid %d: %s (is it alive, yours, and does Yama let you?)", pid,
		      strerror(error));
	return false;
}

static _Noreturn void child(int gate, char **argv, const sigset_t *mask,
			    const struct sigaction *on_child)
{
	char go;
	if (read(gate, &go, 1) != 1)
		_exit(EXIT_OWN_FAILURE);
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	int error = errno;
	warn("cannot run '%s'", argv[0]);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

bool run_program(const struct options *options, struct outcome *outcome)
{
	sigset_t signals, old_mask;
	struct sigaction old_child;
	take_signals(false, &signals, &old_mask, &old_child);

	/* The child waits at the gate: without a tracer, the program must not run. */
	int gate[2];
	if (pipe2(gate, O_CLOEXEC)) {
		warn("cannot make a pipe");
		return false;
	}
	_cleanup_close_ int inside = gate[0];
	_cleanup_close_ int outside = gate[1];

	pid_t pid = fork();
	if (pid < 0) {
		warn("cannot make a process");
		return false;
	}
	if (pid == 0) {
		close(outside);
		child(inside, options->argv, &old_mask, &old_child);
	}

	outcome->pid = pid;
	outcome->process = pid;
	outcome->program = format("%s", options->argv[0]);
	if (!seize(pid, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL))
		return false;
	_cleanup_close_ int tracer = history_open(pid, options->buffer_bytes);
	if (tracer < 0)
		return false;
	if (write(outside, "", 1) != 1) {
		warn("cannot let the program start");
		return false;
	}
	struct run run = { .options = options, .outcome = outcome, .tracer = tracer };
	return follow(&run, &signals);
}

bool run_attached(const struct options *options, struct outcome *outcome)
{
	pid_t pid = options->pid;
	outcome->pid = pid;
	outcome->process = (pid_t)get_proc_status(pid, "Tgid");

	sigset_t signals, old_mask;
	struct sigaction old_child;
	take_signals(true, &signals, &old_mask, &old_child);
	if (!seize(pid, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT))
		return false;
	_cleanup_close_ int tracer = history_open(pid, options->buffer_bytes);
	outcome->program = program_path(pid) ?: format("a program");
	if (tracer < 0 || !history_start(tracer))
		return false;
	outcome->started = true;
	struct run run = {
		.options = options,
		.outcome = outcome,
		.tracer = tracer,
		.attached = true,
	};
	return follow(&run, &signals);
}
