// SPDX-License-Identifier: GPL-2.0-only
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <capstone/capstone.h>

#define INSTRUCTION_BYTES 15

#define FLAG_CF (1U << 0)
#define FLAG_PF (1U << 2)
#define FLAG_ZF (1U << 6)
#define FLAG_SF (1U << 7)
#define FLAG_OF (1U << 11)

enum kind {
	KIND_PLAIN, /* goes on with the next */
	KIND_BRANCH,
	KIND_CONDITIONAL,
	KIND_KERNEL, /* calls the kernel */
	KIND_BREAKPOINT,
};

struct stepper {
	pid_t pid;
	csh capstone;
	int memory;
	__u64 cause; /* the instruction that a signal is about */
	struct truth *truth;
};

static void classify(const cs_insn *decoded, struct instruction *instruction)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	__u8 opcode = x86->opcode[0] == 0x0f ? x86->opcode[1] : x86->opcode[0];

	instruction->length = decoded->size;
	instruction->opcode = opcode;
	instruction->near_count = x86->addr_size == 4;
	switch (decoded->id) {
	case X86_INS_JMP:
	case X86_INS_LJMP:
	case X86_INS_CALL:
	case X86_INS_LCALL:
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		instruction->kind = KIND_BRANCH;
		return;
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_INT:
		instruction->kind = KIND_KERNEL;
		return;
	case X86_INS_INT3:
		instruction->kind = KIND_BREAKPOINT;
		return;
	}
	bool two_bytes = x86->opcode[0] == 0x0f;

	if (two_bytes ? opcode >= 0x80 && opcode <= 0x8f
		      : (opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
		instruction->kind = KIND_CONDITIONAL;
}

static const struct instruction *decode(struct stepper *s, __u64 address)
{
	struct instruction *slot = truth_instruction(s->truth, address);
	__u8 bytes[INSTRUCTION_BYTES];
	cs_insn *decoded;

	if (slot->address)
		return slot;
	slot->address = address;
	ssize_t n = pread(s->memory, bytes, sizeof(bytes), address);

	if (n <= 0) /* nothing there: the fault is what happens next */
		return slot;
	if (cs_disasm(s->capstone, bytes, n, address, 1, &decoded)) {
		classify(decoded, slot);
		cs_free(decoded, 1);
	}
	return slot;
}

static bool condition_holds(unsigned int code, __u64 flags)
{
	bool sign_differs = !(flags & FLAG_SF) != !(flags & FLAG_OF), holds = false;

	switch (code >> 1) {
	case 0:
		holds = flags & FLAG_OF;
		break;
	case 1:
		holds = flags & FLAG_CF;
		break;
	case 2:
		holds = flags & FLAG_ZF;
		break;
	case 3:
		holds = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		holds = flags & FLAG_SF;
		break;
	case 5:
		holds = flags & FLAG_PF;
		break;
	case 6:
		holds = sign_differs;
		break;
	case 7:
		holds = sign_differs || flags & FLAG_ZF;
		break;
	}
	return holds != (code & 1);
}

/* From the registers, as a branch to the next instruction looks like none. */
static bool is_taken(const struct instruction *instruction, const struct user_regs_struct *regs)
{
	__u64 count = instruction->near_count ? (__u32)regs->rcx : regs->rcx;
	__u64 left = instruction->near_count ? (__u32)(count - 1) : count - 1;

	switch (instruction->opcode) {
	case 0xe0:
		return left && !(regs->eflags & FLAG_ZF);
	case 0xe1:
		return left && regs->eflags & FLAG_ZF;
	case 0xe2:
		return left;
	case 0xe3:
		return !count;
	default:
		return condition_holds(instruction->opcode & 0xf, regs->eflags);
	}
}

static int step_error(struct stepper *s, const char *what, __u64 address)
{
	fprintf(stderr, "# stepping: %s at %#llx, after %zu steps\n", what, address,
		s->truth->steps);
	return -1;
}

/* What the instruction at @before has done, now that the task is at @next. */
static int judge(struct stepper *s, const struct user_regs_struct *before, __u64 next)
{
	const struct instruction *instruction = decode(s, before->rip);
	__u64 after = before->rip + instruction->length;

	switch (instruction->kind) {
	case KIND_PLAIN:
		if (next < before->rip || next > before->rip + INSTRUCTION_BYTES)
			return step_error(s, "no branch, but it went elsewhere", before->rip);
		return 0;
	case KIND_CONDITIONAL:
		if (!is_taken(instruction, before)) {
			if (next != after)
				return step_error(s, "a branch not taken went", before->rip);
			return 0;
		}
		break;
	case KIND_BRANCH:
		break;
	case KIND_KERNEL:
		return truth_add(s->truth, before->rip, next, true);
	case KIND_BREAKPOINT:
		return step_error(s, "a breakpoint did not trap", before->rip);
	}
	return truth_add(s->truth, before->rip, next, false);
}

/*
 * One step. Returns 1 while the task lives. A signal is met twice: before it is
 * delivered, at the instruction that caused it, and at the handler's start.
 */
static int step(struct stepper *s, struct user_regs_struct *regs, int *signal)
{
	struct user_regs_struct before = *regs;
	enum kind kind = decode(s, before.rip)->kind;
	int status, delivered = *signal;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, delivered))
		return step_error(s, "PTRACE_SINGLESTEP failed", before.rip);
	if (waitpid(s->pid, &status, 0) != s->pid)
		return step_error(s, "waitpid failed", before.rip);
	if (!WIFSTOPPED(status)) {
		s->truth->end = before.rip;
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, s->pid, NULL, regs))
		return step_error(s, "PTRACE_GETREGS failed", before.rip);
	s->truth->steps++;
	*signal = 0;
	if (delivered)
		return truth_add(s->truth, s->cause, regs->rip, true) ? -1 : 1;
	if (WSTOPSIG(status) == SIGTRAP && kind != KIND_BREAKPOINT)
		return judge(s, &before, regs->rip) ? -1 : 1;
	*signal = WSTOPSIG(status);
	s->cause = before.rip;
	return 1;
}

static int step_all(struct stepper *s)
{
	struct user_regs_struct regs;
	int signal = 0, more;

	if (ptrace(PTRACE_GETREGS, s->pid, NULL, &regs))
		return step_error(s, "PTRACE_GETREGS failed", 0);
	if (truth_add(s->truth, 0, regs.rip, true))
		return -1;
	do {
		more = step(s, &regs, &signal);
	} while (more > 0);
	return more;
}

static int truth_step_here(const struct program *program, struct truth *truth_ret)
{
	struct stepper s = { .truth = truth_ret };
	char path[64];
	int err;

	if (truth_know_instructions(truth_ret))
		return -1;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &s.capstone))
		return -1;
	cs_option(s.capstone, CS_OPT_DETAIL, CS_OPT_ON);
	s.pid = program_start(program);
	if (s.pid < 0) {
		cs_close(&s.capstone);
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", s.pid);
	s.memory = open(path, O_RDONLY | O_CLOEXEC);
	err = step_all(&s);
	if (err)
		child_kill(s.pid);
	close(s.memory);
	cs_close(&s.capstone);
	return err;
}

/* On one CPU: every step changes between the two tasks, and a second CPU slows that down. */
int truth_step(const struct program *program, struct truth *truth_ret)
{
	cpu_set_t before;
	int err;

	*truth_ret = (struct truth){};
	if (sched_getaffinity(0, sizeof(before), &before) || pin_to_cpu(0, sched_getcpu()))
		return -1;
	err = truth_step_here(program, truth_ret);
	sched_setaffinity(0, sizeof(before), &before);
	return err;
}
