/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A state machine that jumps as a linear congruential generator says: where each
 * of its branches goes can be computed, see states.c, and no run of them is like
 * another.
 */
#include "programs.h"

	.text
	.globl	_start
_start:
	movabs	$STATES_SEED, %rbx
	movabs	$STATES_FACTOR, %r8
	movabs	$STATES_SUM, %r9
	mov	$STATES_ROUNDS, %ebp
	lea	states(%rip), %rsi
	.globl	states_next
states_next:
	imul	%r8, %rbx
	add	%r9, %rbx
	mov	%rbx, %rax
	shr	$60, %rax
	shl	$4, %eax
	add	%rsi, %rax
	dec	%ebp
	.globl	states_last
states_last:
	jz	states_out
	.globl	states_jump
states_jump:
	jmp	*%rax

	.globl	states_out
states_out:
	mov	$231, %eax		/* exit_group */
	xor	%edi, %edi
	syscall
	hlt

	/* Sixteen states of sixteen bytes; each jumps from its first byte. */
	.balign	16
	.globl	states
states:
	.rept	16
	jmp	states_next
	.balign	16
	.endr

	.section .note.GNU-stack, "", @progbits
