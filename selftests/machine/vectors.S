/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where interrupts, exceptions and system calls go. None branches before its last
 * instruction, whose address is a label.
 */
#include "machine.h"

	.text

	/* One goes on where resume says, once; without that it is the end. */
	.macro EXCEPTION number, error
	.globl	vector_\number, vector_\number\()_iret
vector_\number:
	.if	\error
	add	$8, %rsp
	.endif
	push	%rax
	mov	resume, %rax
	test	%rax, %rax
	jz	1f
	mov	%rax, 8(%rsp)
	movq	$0, resume
	pop	%rax
vector_\number\()_iret:
	iretq
1:	mov	$\number, %edi
	mov	8(%rsp), %rsi
	call	unexpected
	.endm

	EXCEPTION 0, 0
	EXCEPTION 3, 0
	EXCEPTION 6, 0
	EXCEPTION 8, 1
	EXCEPTION 11, 1
	EXCEPTION 13, 1
	EXCEPTION 14, 1

	.macro INTERRUPT number
	.globl	vector_\number, vector_\number\()_iret
vector_\number:
vector_\number\()_iret:
	iretq
	.endm

	INTERRUPT 1
	INTERRUPT 2
	INTERRUPT 48				/* VECTOR_INT */

	.globl	vector_irq, vector_irq_iret
vector_irq:
	push	%rax
	mov	$APIC + APIC_EOI, %eax
	movl	$0, (%rax)
	pop	%rax
vector_irq_iret:
	iretq

	.globl	vector_leave, vector_leave_jmp
vector_leave:
	mov	traced_stack, %rsp
	mov	$SEL_DATA, %eax
	mov	%eax, %ss
vector_leave_jmp:
	jmp	*resume_kernel

	/* For rules: what must not run says a character. */
vector_tell:
	out	%al, %dx
	iretq

	.globl	syscall_entry, syscall_sysret
syscall_entry:
syscall_sysret:
	sysretq

	/* Where to, and with what stack, the caller says in rdx and rcx. */
	.globl	sysenter_entry, sysenter_sysexit
sysenter_entry:
sysenter_sysexit:
	sysexitq

	.globl	gate_entry, gate_lret
gate_entry:
gate_lret:
	lretq

	.section .rodata
	.balign	8
	.globl	vectors
vectors:
	.quad	vector_0, vector_1, vector_2, vector_3, 0, 0, vector_6, 0
	.quad	vector_8, 0, 0, vector_11, 0, vector_13, vector_14, 0
	.fill	32, 8, 0
	.quad	vector_48, vector_leave, vector_tell
	.fill	13, 8, 0
	.quad	vector_irq

	.bss
	.balign	8
	.globl	resume_kernel
resume_kernel:
	.skip	8

	/* The user asks for its exceptions, too. */
	.section .user, "awx"
	.balign	8
	.globl	resume
resume:
	.quad	0

	.section .note.GNU-stack, "", @progbits
