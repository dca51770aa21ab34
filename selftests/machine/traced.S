/* SPDX-License-Identifier: GPL-2.0-only */
#include "machine.h"

	.text

	.macro WRITE_DEBUGCTL
	mov	$MSR_DEBUGCTL, %ecx
	xor	%edx, %edx
	wrmsr
	.endm

	.globl	run_traced, traced_call, traced_back
run_traced:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	pushfq
	mov	%rdi, %rbx
	mov	%esi, %eax
	lea	-8(%rsp), %rcx
	mov	%rcx, traced_stack
	WRITE_DEBUGCTL
traced_call:
	call	*%rbx
traced_back:
	xor	%eax, %eax
	WRITE_DEBUGCTL
	jmp	1f
1:	popfq
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

	.globl	loop_traced, traced_loop
loop_traced:
	mov	%edi, %eax
	WRITE_DEBUGCTL
	mov	%esi, %ecx
traced_loop:
	loop	traced_loop
	xor	%eax, %eax
	WRITE_DEBUGCTL
	ret

	/* The first jmp is the first instruction with DEBUGCTL set, the last one is without it. */
	.globl	jumps_traced, traced_jumps
jumps_traced:
	mov	%edi, %eax
	WRITE_DEBUGCTL
traced_jumps:
	.rept	JUMPS
	jmp	. + 2
	.endr
	xor	%eax, %eax
	wrmsr
	jmp	1f
1:	ret

	/* An interrupt comes somewhere between ipi_sent and ipi_jmp. */
	.globl	ipi_traced, ipi_sent, ipi_jmp
ipi_traced:
	mov	%edi, %eax
	WRITE_DEBUGCTL
	mov	$APIC + APIC_ICR, %edi
	mov	%esi, (%rdi)
ipi_sent:
	.rept	64
	nop
	.endr
ipi_jmp:
	jmp	1f
1:	xor	%eax, %eax
	wrmsr
	ret

	/*
	 * What must not run is an out to the serial port: the next instruction, if the
	 * value's upper half is the port, or the one after a mov.
	 */
	.globl	break_write
break_write:
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
	wrmsr
	out	%al, %dx
	mov	$SERIAL, %edx
	out	%al, %dx
	ret

	.globl	break_jmp, break_int, break_irq
break_jmp:
	mov	$DEBUGCTL_ON, %eax
	WRITE_DEBUGCTL
	mov	$SERIAL, %edx
	jmp	1f
1:	out	%al, %dx
	ret
break_int:
	mov	$DEBUGCTL_ON, %eax
	WRITE_DEBUGCTL
	mov	$SERIAL, %edx
	int	$VECTOR_TELL
	ret
break_irq:
	mov	$DEBUGCTL_ON, %eax
	WRITE_DEBUGCTL
	mov	$SERIAL, %edx
	mov	$APIC + APIC_ICR, %edi
	movl	$ICR_SELF + ICR_ASSERT + VECTOR_TELL, (%rdi)
	sti
	nop
	cli
	ret

	/* Runs in SMM, from SMM_CODE. */
	.globl	smm_code, smm_code_end
smm_code:
	.code16
	mov	$3, %cx
1:	loop	1b
	incw	%cs:(SMM_COUNT - SMM_BASE)
	jmp	2f
2:	rsm
	.code64
smm_code_end:

	.globl	step_once
step_once:
	pushq	$0x102
	popfq
	nop
	pushq	$2
	popfq
	ret

	.globl	try_write
try_write:
	movq	$1f, resume
	mov	%edi, %ecx
	mov	%esi, %eax
	mov	%rsi, %rdx
	shr	$32, %rdx
	wrmsr
	xor	%eax, %eax
	movq	$0, resume
	ret
1:	mov	$1, %eax
	ret

	.bss
	.balign	8
	.globl	traced_stack
traced_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits
