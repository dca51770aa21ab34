/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branches outside long mode, before the image enters it: real mode, protected mode
 * of 16 and 32 bits with a base, virtual-8086 mode, CPL 3. A part is traced in one go
 * into an area of its own; C compares later.
 */
#include "case.inc"

	.set	PARTS, 5
	.set	AREA_BYTES, 64
	.set	BUFFER_BYTES, LOW_RECORDS * 24
	.set	STACK, 0x7000
	.set	TSS, 0x6000
	.set	RAM_GDT, 0x6100

	/* Selectors; the first two are those that entering long mode relies on. */
	.set	FLAT, 0x08
	.set	DATA, 0x10
	.set	CODE32, 0x18			/* base EARLY, as all below */
	.set	CODE16, 0x20
	.set	SYSENTER, 0x28			/* and three more: data, user's code, user's data */
	.set	TASK, 0x48

	IMAGE	"legacy"

	/* An offset in a segment that starts at EARLY. */
#define OFF(label) (label - EARLY)

	.macro PART number, name, what
	.pushsection .rodata
what_\name:
	.asciz	"\what"
	.popsection
	.pushsection .stores, "a"
first_\name:
	.popsection
	.set	part, \number
	mov	$MSR_DS_AREA, %ecx
	mov	$LOW_AREAS + part * AREA_BYTES, %eax
	xor	%edx, %edx
	wrmsr
	mov	$MSR_DEBUGCTL, %ecx
	mov	$DEBUGCTL_ON, %eax
	wrmsr
	.endm

	.macro PART_END name
	mov	$MSR_DEBUGCTL, %ecx
	xor	%eax, %eax
	xor	%edx, %edx
	wrmsr
	.pushsection .stores, "a"
last_\name:
	.popsection
	.pushsection .cases, "a"
	.quad	what_\name, 0, 0, first_\name, last_\name
	.popsection
	.endm

	.section .early, "ax"
	.code16
	.globl	early
early:
	cli
	cld
	xor	%ax, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	mov	$STACK, %sp

	/* The areas, their fields as wide as this CPU has them. */
	mov	$1, %eax
	cpuid
	and	$4, %ecx			/* DTES64 */
	mov	%ecx, %ebp
	add	$4, %ebp
	mov	$LOW_AREAS, %edi
	mov	$LOW_BUFFERS, %eax
1:	mov	%eax, (%edi)
	mov	%eax, (%edi, %ebp)
	lea	BUFFER_BYTES + 1(%eax), %edx
	mov	%edx, (%edi, %ebp, 2)
	add	$AREA_BYTES, %edi
	add	$BUFFER_BYTES, %eax
	cmp	$LOW_AREAS + PARTS * AREA_BYTES, %edi
	jb	1b

	.irp	vector, 0, 1, 3, 4, 6, 0x20
	movw	$OFF(real_int), 4 * \vector
	movw	$EARLY >> 4, 4 * \vector + 2
	.endr

	PART	0, real, "real mode"
	TAKEN	1f, jmp 1f
	nop
1:	mov	$3, %cx
	STORES	2f, 2f
	STORES	2f, 2f
2:	loop	2b
	TAKEN	real_near, call real_near
	STORES	real_near_ret, 3f
	/* The same place by another segment. */
3:	TAKEN	real_far, lcall $(EARLY >> 4) - 0x100, $OFF(real_far) + 0x1000
	STORES	real_far_ret, 4f
4:	TAKEN	real_int, int $0x20
	STORES	real_int_iret, 5f
5:	TAKEN	6f, ljmp $(EARLY >> 4) - 0x80, $OFF(6f) + 0x800
6:	pushw	$EARLY >> 4
	pushw	$OFF(7f)
	TAKEN	7f, lret
	nop
7:	pushf
	pushw	$EARLY >> 4
	pushw	$OFF(8f)
	TAKEN	8f, iret
	nop
8:	mov	$OFF(9f), %ax
	TAKEN	9f, jmp *%ax
	nop
9:	mov	$1, %al
	cmp	$1, %al
	TAKEN	10f, je 10f
10:	jne	10b
	into
	mov	$0x7f, %al
	inc	%al
	TAKEN	real_int, into
	STORES	real_int_iret, 11f
11:	TAKEN	real_int, int3
	STORES	real_int_iret, 12f
12:	xor	%cx, %cx
	TAKEN	13f, jcxz 13f
	nop
13:	mov	$3, %cx
	mov	$0x7800, %di
	rep stosb
	PART_END real

	PART	1, real_step, "real mode, single-stepping"
	pushw	$0x102
	popf
	nop
1:	STORES	1b, real_int
	STORES	real_int_iret, 1b
	TAKEN	2f, jmp 2f
	nop
2:	STORES	2b, real_int
	STORES	real_int_iret, 2b
	pushw	$2
3:	STORES	3b, real_int
	STORES	real_int_iret, 3b
	popf
4:	STORES	4b, real_int
	STORES	real_int_iret, 4b
	PART_END real_step

	mov	$OFF(legacy_gdt), %si
	mov	$RAM_GDT, %di
	mov	$(legacy_gdt_end - legacy_gdt) / 4, %cx
	rep movsl %cs:(%si), %es:(%di)
	data32 lgdt %cs:OFF(legacy_gdt_pointer)
	data32 lidt %cs:OFF(legacy_idt_pointer)
	mov	%cr0, %eax
	or	$1, %al
	mov	%eax, %cr0
	ljmp	$CODE16, $OFF(protected16)

real_near:
	nop
real_near_ret:
	ret
real_far:
	nop
real_far_ret:
	lret
real_int:
	nop
real_int_iret:
	iret

protected16:
	mov	$DATA, %ax
	mov	%ax, %ds
	mov	%ax, %es
	mov	%ax, %ss
	PART	2, protected16, "protected mode, 16 bits, with a base"
	TAKEN	1f, jmp 1f
	nop
1:	TAKEN	16f, call 16f
	STORES	17f, 2f
2:	mov	$OFF(3f), %ax
	TAKEN	3f, jmp *%ax
16:	nop
17:	ret
3:	TAKEN	4f, ljmp $CODE32, $OFF(4f)
	.code32
4:	TAKEN	5f, ljmp $CODE16, $OFF(5f)
	.code16
5:	PART_END protected16
	ljmp	$CODE32, $OFF(protected32)

	.code32
protected32:
	mov	$STACK, %esp
	movl	$STACK, TSS + 4
	movl	$DATA, TSS + 8
	mov	$TASK, %eax
	ltr	%ax
	mov	$MSR_SYSENTER_CS, %ecx
	mov	$SYSENTER, %eax
	xor	%edx, %edx
	wrmsr
	mov	$MSR_SYSENTER_SP, %ecx
	mov	$STACK, %eax
	wrmsr
	mov	$MSR_SYSENTER_IP, %ecx
	mov	$sysenter32, %eax
	wrmsr

	PART	3, protected32, "protected mode, 32 bits, with a base"
	TAKEN	1f, jmp 1f
	nop
1:	TAKEN	16f, call 16f
	STORES	17f, 2f
2:	TAKEN	18f, lcall $CODE32, $OFF(18f)
	STORES	19f, 3f
3:	TAKEN	int32, int $0x20
	STORES	int32_iret, 4f
4:	TAKEN	skip2, ud2
	STORES	skip2_iret, 5f
5:	mov	$0x7fffffff, %eax
	into
	inc	%eax
	TAKEN	int32, into
	STORES	int32_iret, 6f
6:	mov	$OFF(7f), %eax
	TAKEN	7f, jmp *%eax
16:	nop
17:	ret
18:	nop
19:	lret
7:	PART_END protected32

	PART	4, vm86, "virtual-8086 mode and CPL 3: in by iret and sysexit, out by int n and sysenter"
	.rept	4				/* gs, fs, ds, es */
	pushl	$0
	.endr
	pushl	$0				/* ss */
	pushl	$STACK - 0x200
	pushl	$0x23002			/* VM, IOPL 3 */
	pushl	$EARLY >> 4
	pushl	$OFF(1f)
	TAKEN	1f, iret
	.code16
1:	TAKEN	2f, jmp 2f
	nop
2:	TAKEN	16f, call 16f
	STORES	17f, 3f
3:	TAKEN	4f, ljmp $(EARLY >> 4) - 0x80, $OFF(4f) + 0x800
16:	nop
17:	ret
4:	TAKEN	leave86, int $0x21
	STORES	leave86_sysexit, 5f
	.code32
5:	TAKEN	6f, jmp 6f			/* CPL 3, no base */
	nop
6:	TAKEN	sysenter32, sysenter
sysenter32:
	TAKEN	7f, ljmp $CODE32, $OFF(7f)
7:	PART_END vm86

	mov	$DATA, %eax
	ljmp	$FLAT, $protected

int32:
	nop
int32_iret:
	iret
skip2:
	addl	$2, (%esp)
skip2_iret:
	iret
leave86:
	mov	$DATA, %eax
	mov	%eax, %ds
	mov	$STACK - 0x200, %ecx
	mov	$5b, %edx
leave86_sysexit:
	sysexit

	.macro BASED access, flags
	.quad	0x0000000f0000ffff | (\access << 40) | (\flags << 52)
	.endm

	.balign	8
legacy_gdt:
	.quad	0
	.quad	0x00cf9b000000ffff		/* FLAT */
	.quad	0x00cf93000000ffff		/* DATA */
	BASED	0x9b, 0xc			/* CODE32 */
	BASED	0x9b, 0				/* CODE16 */
	.fill	4, 8, 0				/* SYSENTER: never read */
	.quad	0x0000890000000067 + (TSS << 16)	/* TASK */
legacy_gdt_end:
legacy_gdt_pointer:
	.word	legacy_gdt_end - legacy_gdt - 1
	.long	RAM_GDT
legacy_idt_pointer:
	.word	0x22 * 8 - 1
	.long	legacy_idt

	.macro GATE label
	.word	OFF(\label), CODE32, 0xee00, 0
	.endm

	.balign	8
legacy_idt:
	.fill	4, 8, 0
	GATE	int32
	.fill	1, 8, 0
	GATE	skip2
	.fill	25, 8, 0
	GATE	int32
	GATE	leave86

	.section .note.GNU-stack, "", @progbits
