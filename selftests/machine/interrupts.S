/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts, exceptions and single-stepping, in long mode at CPL 0. */
#include "case.inc"

	.text

	CASE	int, "int n, and iretq back"
	TAKEN	vector_48, int $VECTOR_INT
	STORES	vector_48_iret, 1f
1:	nop
	TAKEN	vector_48, int $VECTOR_INT
	STORES	vector_48_iret, 2f
2:	END	int

	CASE	int3, "int3"
	RAISES	3, 1f, int3
	nop
1:	RAISES	3, 2f, .byte 0xcd; .byte 3
2:	END	int3

	CASE	ud, "ud2"
	nop
	RAISES	6, 1f, ud2
	nop
1:	END	ud

	CASE	de, "a division by zero"
	xor	%ecx, %ecx
	RAISES	0, 1f, div %ecx
	nop
1:	END	de

	CASE	gp, "#GP of a load, and of a wrmsr"
	mov	$NOT_ADDRESS, %rax
	RAISES	13, 1f, mov (%rax), %rax
	nop
1:	mov	$MSR_DS_AREA, %ecx
	mov	$0x80000000, %edx
	RAISES	13, 2f, wrmsr
	nop
2:	END	gp

	CASE	pf, "#PF of a load, of a store, and in the midst of a repeated one"
	RAISES	14, 1f, mov UNMAPPED, %eax
	nop
1:	RAISES	14, 2f, movl $1, UNMAPPED
	nop
2:	cld
	mov	$UNMAPPED - 16, %edi
	mov	$32, %ecx
	RAISES	14, 3f, rep stosb
	nop
3:	END	pf

	CASE	fetch, "#PF of an instruction fetch, after the jmp there"
	mov	$UNMAPPED, %eax
	RESUME_AT 1f
	TAKEN	UNMAPPED, jmp *%rax
	STORES	UNMAPPED, vector_14
	STORES	vector_14_iret, 1f
1:	END	fetch

	CASE	faulting, "branches that fault are not taken"
	RAISES	14, 1f, jmp *UNMAPPED
1:	RAISES	14, 2f, call *UNMAPPED
2:	RAISES	13, 3f, ljmp *null_selector
3:	RAISES	13, 4f, lcall *null_selector
4:	mov	%rsp, %rbp
	pushq	$0
	pushq	$5f
	RAISES	13, 5f, lretq
5:	mov	%rbp, %rsp
	pushq	$SEL_DATA
	push	%rbp
	pushq	$2
	pushq	$SEL_DATA
	pushq	$6f
	RAISES	13, 6f, iretq
6:	mov	%rbp, %rsp
	RAISES	13, 7f, int $0x3f
7:	END	faulting

	.pushsection .data
null_selector:
	.long	7b, 0
	.popsection

	CASE	irq, "an interrupt, held back until after sti's successor"
	mov	$APIC + APIC_ICR, %edi
	movl	$ICR_SELF + ICR_ASSERT + VECTOR_IRQ, (%rdi)
	sti
	nop
1:	STORES	1b, vector_irq
	STORES	vector_irq_iret, 1b
	nop
	cli
	END	irq

	CASE	irq_jmp, "an interrupt between a jmp and where it goes"
	mov	$APIC + APIC_ICR, %edi
	movl	$ICR_SELF + ICR_ASSERT + VECTOR_IRQ, (%rdi)
	sti
	TAKEN	1f, jmp 1f
	nop
1:	STORES	1b, vector_irq
	STORES	vector_irq_iret, 1b
	nop
	cli
	END	irq_jmp

	CASE	irq_hlt, "an interrupt that ends a hlt"
	mov	$APIC + APIC_ICR, %edi
	movl	$ICR_SELF + ICR_ASSERT + VECTOR_IRQ, (%rdi)
	sti
	hlt
1:	STORES	1b, vector_irq
	STORES	vector_irq_iret, 1b
	cli
	END	irq_hlt

	.macro STEPPED at
	STORES	\at, vector_1
	STORES	vector_1_iret, \at
	.endm

	CASE	step, "single-stepping"
	FLAGS	0x102			/* TF */
	nop
1:	STEPPED	1b
	TAKEN	2f, jmp 2f
	nop
2:	STEPPED	2b
	pushq	$2
3:	STEPPED	3b
	popfq
4:	STEPPED	4b
	END	step

	.section .note.GNU-stack, "", @progbits
