/* SPDX-License-Identifier: GPL-2.0-only */
/* Branches in long mode between CPL 0 and CPL 3, each way there is, and at CPL 3. */
#include "case.inc"

	IMAGE	"crossings"

	.text

	/* Starts and ends in the kernel, but is the user's between. */
	.macro USER_CASE name, what, cs=SEL_USER, flags=2
	CASE	\name, "\what"
	movq	$end_\name, resume_kernel
	.if	\flags & 0x200			/* there has to be something that it lets in */
	mov	$APIC + APIC_ICR, %edi
	movl	$ICR_SELF + ICR_ASSERT + VECTOR_IRQ, (%rdi)
	.endif
	pushq	$SEL_USER_SS + 3
	pushq	$user_stack
	pushq	$\flags
	pushq	$\cs + 3
	pushq	$user_\name
	TAKEN_USER user_\name, iretq
	.section .user, "awx"
user_\name:
	.endm

	.macro USER_END name
	TAKEN	vector_leave, int $VECTOR_LEAVE
	STORES	vector_leave_jmp, end_\name
	.text
	END	\name
	.endm

	.macro USER_RAISES vector, to, insn:vararg
	RESUME_AT \to
	TAKEN	vector_\vector, \insn
	STORES	vector_\vector\()_iret, \to, 3
	.endm

	.macro USER_STEPPED at
	STORES	\at, vector_1
	STORES	vector_1_iret, \at, 3
	.endm

	USER_CASE near, "near branches at CPL 3"
	TAKEN_USER 1f, jmp 1f
	nop
1:	TAKEN_USER 2f, call 2f
	STORES	3f, 4f, 3
4:	mov	$5f, %eax
	TAKEN_USER 5f, jmp *%rax
2:	nop
3:	ret
5:	mov	$3, %ecx
	STORES	6f, 6f, 3
	STORES	6f, 6f, 3
6:	loop	6b
	cmp	%ecx, %eax
	je	6b
	TAKEN_USER 7f, jne 7f
	nop
7:	USER_END near

	USER_CASE far, "far branches at CPL 3, and to 32-bit code and back"
	pushq	$SEL_USER + 3
	pushq	$1f
	TAKEN_USER 1f, lretq
	nop
1:	TAKEN_USER user_far32, ljmp *user_far_jmp
	.code32
user_far32:
	TAKEN_USER 2f, jmp 2f
	nop
2:	TAKEN_USER 3f, ljmp $SEL_USER + 3, $3f
	.code64
3:	USER_END far

	.pushsection .user
user_far_jmp:
	.long	user_far32, SEL_USER32 + 3
	.popsection

	USER_CASE int, "int n"
	TAKEN	vector_48, int $VECTOR_INT
	STORES	vector_48_iret, 1f, 3
1:	USER_RAISES 3, 2f, int3
	nop
2:	USER_END int

	USER_CASE exceptions, "#UD, #DE, #GP and #PF"
	USER_RAISES 6, 1f, ud2
	nop
1:	xor	%ecx, %ecx
	USER_RAISES 0, 2f, div %ecx
	nop
2:	USER_RAISES 13, 3f, hlt
	nop
3:	USER_RAISES 14, 4f, mov WINDOW, %eax
	nop
4:	USER_END exceptions

	USER_CASE fetch, "a jmp to the kernel's memory, and the #PF there"
	RESUME_AT 1f
	mov	$WINDOW, %eax
	TAKEN_USER WINDOW, jmp *%rax
	STORES	WINDOW, vector_14
	STORES	vector_14_iret, 1f, 3
1:	USER_END fetch

	USER_CASE step, "single-stepping"
	FLAGS	0x102
	nop
1:	USER_STEPPED	1b
	TAKEN_USER 2f, jmp 2f
	nop
2:	USER_STEPPED	2b
	TAKEN	syscall_entry, syscall
	STORES	syscall_sysret, 3f, 3
3:	USER_STEPPED	3b
	pushq	$2
4:	USER_STEPPED	4b
	popfq
5:	USER_STEPPED	5b
	USER_END step

	USER_CASE syscall, "syscall and sysret"
	TAKEN	syscall_entry, syscall
	STORES	syscall_sysret, 1f, 3
1:	nop
	TAKEN	syscall_entry, syscall
	STORES	syscall_sysret, 2f, 3
2:	USER_END syscall

	USER_CASE sysenter, "sysenter and sysexit"
	mov	$user_stack, %ecx
	mov	$1f, %edx
	TAKEN	sysenter_entry, sysenter
	STORES	sysenter_sysexit, 1f, 3
1:	USER_END sysenter

	USER_CASE gate, "a call gate, and lret back"
	TAKEN	gate_entry, lcall *gate_pointer
	STORES	gate_lret, 1f, 3
1:	USER_END gate

	.pushsection .user
gate_pointer:
	.long	0, SEL_GATE + 3
	.popsection

	USER_CASE compat, "32-bit code: near branches, int n", SEL_USER32
	.code32
	TAKEN_USER 1f, jmp 1f
	nop
1:	TAKEN_USER 2f, call 2f
	STORES	3f, 4f, 3
4:	TAKEN	vector_48, int $VECTOR_INT
	STORES	vector_48_iret, 5f, 3
5:	TAKEN_USER 6f, jmp 6f
2:	nop
3:	ret
6:	.code64
	USER_END compat

	USER_CASE irq, "an interrupt at the first instruction after iretq", SEL_USER, 0x202
	STORES	user_irq, vector_irq
	STORES	vector_irq_iret, user_irq, 3
	USER_END irq

	.section .user
	.balign	16
	.skip	1024
user_stack:

	.section .note.GNU-stack, "", @progbits
