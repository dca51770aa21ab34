/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PINGPONG_ROUNDS times: a byte from standard input, some branches, a byte to
 * standard output. Fed from a full pipe it runs through; played against another,
 * it is switched out every round; its branches are the same either way.
 */
#include "programs.h"

	.text
	.globl	_start
_start:
	mov	$PINGPONG_ROUNDS, %ebx
1:	xor	%eax, %eax		/* read */
	xor	%edi, %edi
	lea	byte(%rip), %rsi
	mov	$1, %edx
	syscall
	cmp	$1, %rax
	jne	2f
	mov	$3, %ecx
3:	call	leaf
	loop	3b
	test	$1, %bl
	jz	4f
	nop
4:	mov	$1, %eax		/* write */
	mov	$1, %edi
	lea	byte(%rip), %rsi
	mov	$1, %edx
	syscall
	cmp	$1, %rax
	jne	2f
	dec	%ebx
	jnz	1b
2:	mov	%ebx, %edi		/* 0, had all gone well */
	mov	$231, %eax		/* exit_group */
	syscall
	hlt

leaf:
	ret

	.bss
byte:
	.skip	1

	.section .note.GNU-stack, "", @progbits
