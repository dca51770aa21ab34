/* SPDX-License-Identifier: GPL-2.0-only */
/* From the first instruction to C in long mode, for each CPU. */
#include "machine.h"

	.section .reset, "ax"
	.code16
	ljmp	$(EARLY >> 4), $(early - EARLY)

	.section .early.first, "ax"
other_cpu:
	mov	$1, %ebx
	jmp	1f

	/* An image may have tests of its own before; it goes on to early_done, or protected. */
	.section .early, "ax"
	.weak	early
	.globl	early_done, protected
early:
early_done:
	xor	%ebx, %ebx
1:	cli
	lgdtl	%cs:(early_gdt_pointer - EARLY)
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	ljmpl	$SEL_CODE, $2f

	.code32
protected:
	xor	%ebx, %ebx
2:	mov	$SEL_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	test	%ebx, %ebx
	jnz	3f

	cld
	mov	$ram_load, %esi
	mov	$ram_start, %edi
	mov	$ram_end, %ecx
	sub	%edi, %ecx
	rep movsb
	mov	$user_load, %esi
	mov	$user_start, %edi
	mov	$user_end, %ecx
	sub	%edi, %ecx
	rep movsb

	/* 4 GiB as they are, in pages of 2 MiB; one is the user's, one is in pages of 4 KiB. */
	mov	$directories, %edi
	mov	$0x83, %eax
4:	mov	%eax, (%edi)
	add	$8, %edi
	add	$0x200000, %eax
	jnc	4b
	orl	$4, directories + USER / 0x200000 * 8
	movl	$window_pages + 3, directories + WINDOW / 0x200000 * 8
	movl	$directories + 0x0007, pointers
	movl	$directories + 0x1007, pointers + 8
	movl	$directories + 0x2007, pointers + 16
	movl	$directories + 0x3007, pointers + 24
	movl	$pointers + 7, root

3:	mov	$0x20, %eax			/* PAE */
	mov	%eax, %cr4
	mov	$root, %eax
	mov	%eax, %cr3
	mov	$0xc0000080, %ecx
	rdmsr
	or	$0x101, %eax			/* LME, SCE */
	wrmsr
	mov	%cr0, %eax
	or	$0x80010000, %eax		/* PG, WP */
	mov	%eax, %cr0
	lgdt	gdt_pointer
	ljmp	$SEL_CODE, $start64

early_gdt:
	.quad	0, 0x00cf9b000000ffff, 0x00cf93000000ffff
early_gdt_pointer:
	.word	. - early_gdt - 1
	.long	early_gdt

	.text
	.code64
start64:
	mov	$SEL_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	xor	%eax, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	test	%ebx, %ebx
	jnz	1f
	mov	$stack, %esp
	call	machine_main
1:	mov	$other_stack, %esp
	call	run_other
2:	hlt
	jmp	2b

	.data
	.balign	8
	.globl	gdt
gdt:
	.quad	0
	.quad	0x00af9b000000ffff		/* SEL_CODE */
	.quad	0x00cf93000000ffff		/* SEL_DATA */
	.quad	0x00cffb000000ffff		/* SEL_USER32 */
	.quad	0x00cff3000000ffff		/* SEL_USER_DATA */
	.quad	0x00affb000000ffff		/* SEL_USER */
	.quad	0x00cff3000000ffff		/* SEL_USER_SS */
	.quad	0x00cf9b000000ffff + (CODE_BASE << 16)	/* SEL_BASED32 */
	.quad	0, 0				/* SEL_TSS */
	.quad	0, 0				/* SEL_GATE */
gdt_pointer:
	.word	. - gdt - 1
	.long	gdt, 0

	.bss
	.balign	4096
	.globl	window_pages
root:
	.skip	4096
pointers:
	.skip	4096
directories:
	.skip	4 * 4096
window_pages:
	.skip	4096
	.skip	16384
stack:
	.skip	4096
other_stack:

	.section .note.GNU-stack, "", @progbits
