/* SPDX-License-Identifier: GPL-2.0-only */
/* Branches in long mode at CPL 0: each kind, taken and not taken. */
#include "case.inc"

	IMAGE	"branches"

	.text

	CASE	none, "no branch"
	nop
	END	none

	CASE	jmp, "jmp short, near, indirect"
	TAKEN	1f, jmp 1f
	nop
1:	TAKEN	2f, {disp32} jmp 2f
	nop
2:	mov	$3f, %eax
	TAKEN	3f, jmp *%rax
	nop
3:	TAKEN	jmp_there, jmp *jmp_target
	nop
jmp_there:
	END	jmp

	.pushsection .data
jmp_target:
	.quad	jmp_there
	.popsection

	CASE	jmp_next, "jmp to the next instruction"
	TAKEN	1f, jmp 1f
1:	TAKEN	2f, {disp32} jmp 2f
2:	END	jmp_next

	CASE	jmp_back, "jmp backwards"
	TAKEN	2f, jmp 2f
1:	STORES	2f, 1b
	TAKEN	3f, jmp 3f
2:	jmp	1b
3:	END	jmp_back

	/* CC, flags with which it is true, and with which it is not. */
	.macro JCC cc, yes, no
	CASE	j\cc, "j\cc taken and not, short and near, to the next instruction"
	FLAGS	\no
	j\cc	1f
	{disp32} j\cc	1f
	j\cc	2f
2:	FLAGS	\yes
	TAKEN	1f, j\cc 1f
	nop
1:	FLAGS	\yes
	TAKEN	3f, {disp32} j\cc 3f
	nop
3:	FLAGS	\yes
	TAKEN	4f, j\cc 4f
4:	FLAGS	\yes
	TAKEN	5f, {disp32} j\cc 5f
5:	END	j\cc
	.endm

	JCC	o, 0x802, 2
	JCC	no, 2, 0x802
	JCC	b, 3, 2
	JCC	ae, 2, 3
	JCC	e, 0x42, 2
	JCC	ne, 2, 0x42
	JCC	be, 3, 2
	JCC	a, 2, 0x42
	JCC	s, 0x82, 2
	JCC	ns, 2, 0x82
	JCC	p, 6, 2
	JCC	np, 2, 6
	JCC	l, 0x82, 2
	JCC	ge, 2, 0x82
	JCC	le, 0x42, 2
	JCC	g, 2, 0x42

	CASE	compare, "jcc on the flags of cmp and test"
	mov	$5, %eax
	cmp	$5, %eax
	jne	1f
	TAKEN	1f, je 1f
	nop
1:	cmp	$6, %eax
	jae	2f
	TAKEN	2f, jb 2f
	nop
2:	test	%eax, %eax
	js	3f
	TAKEN	3f, jnz 3f
	nop
3:	END	compare

	CASE	loop, "loop"
	mov	$4, %ecx
1:	.rept	3
	STORES	1b, 1b
	.endr
	loop	1b
	mov	$1, %ecx
	loop	1b
	mov	$2, %ecx
	TAKEN	2f, loop 2f
2:	END	loop

	CASE	loope, "loope and loopne"
	mov	$9, %ecx
	cmp	%ecx, %ecx
	TAKEN	1f, loope 1f
	nop
1:	loopne	1b
	test	%ecx, %ecx
	loope	1b
	TAKEN	2f, loopne 2f
	nop
2:	mov	$1, %ecx
	cmp	%ecx, %ecx
	loope	2b
	END	loope

	CASE	jrcxz, "jrcxz and jecxz"
	mov	$1, %rcx
	jrcxz	1f
	xor	%ecx, %ecx
	TAKEN	1f, jrcxz 1f
	nop
1:	bts	$32, %rcx
	jrcxz	2f
	TAKEN	2f, jecxz 2f
	nop
2:	END	jrcxz

	CASE	call, "call near and indirect, ret, ret with a number"
	TAKEN	1f, call 1f
	STORES	4f, 5f
5:	mov	$2f, %eax
	TAKEN	2f, call *%rax
	STORES	6f, 7f
7:	push	%rax
	TAKEN	call_there, call *call_target
	STORES	8f, 9f
9:	TAKEN	3f, jmp 3f
1:	nop
4:	ret
2:	nop
6:	ret
call_there:
	nop
8:	ret	$8
3:	TAKEN	1f, call 1f
1:	pop	%rax
	push	$2f
	TAKEN	2f, repz ret
	nop
2:	END	call

	.pushsection .data
call_target:
	.quad	call_there
	.popsection

	CASE	far, "far jmp, call and ret"
	TAKEN	far_1, ljmp *far_jmp
	nop
far_1:	TAKEN	far_2, rex64 ljmp *far_jmp64
	nop
far_2:	TAKEN	far_there, lcall *far_call
	STORES	2f, 3f
3:	pushq	$SEL_CODE
	pushq	$4f
	TAKEN	4f, lretq
	nop
4:	TAKEN	far_there64, rex64 lcall *far_call64
	STORES	5f, 6f
6:	TAKEN	7f, jmp 7f
far_there:
	nop
2:	lretl
far_there64:
	nop
5:	lretq
7:	END	far

	.pushsection .data
far_jmp:
	.long	far_1, SEL_CODE
far_jmp64:
	.quad	far_2, SEL_CODE
far_call:
	.long	far_there, SEL_CODE
far_call64:
	.quad	far_there64, SEL_CODE
	.popsection

	CASE	compat, "32-bit code with a base, and back"
	TAKEN	compat_there, ljmp *compat_jmp
	.code32
compat_there:
	TAKEN	1f, jmp 1f
	nop
1:	TAKEN	2f, call 2f
	STORES	3f, 4f
4:	mov	$5f - CODE_BASE, %eax
	TAKEN	5f, jmp *%eax
2:	nop
3:	ret
5:	cmp	%eax, %eax
	TAKEN	6f, je 6f
	nop
6:	TAKEN	7f, ljmp $SEL_CODE, $7f
	.code64
7:	END	compat

	.pushsection .data
compat_jmp:
	.long	compat_there - CODE_BASE, SEL_BASED32
	.popsection

	CASE	iretq, "iretq at the same CPL"
	mov	%rsp, %rax
	pushq	$SEL_DATA
	push	%rax
	pushq	$2
	pushq	$SEL_CODE
	pushq	$1f
	TAKEN	1f, iretq
	nop
1:	END	iretq

	CASE	rep, "repeated string instructions are no branches"
	cld
	mov	$WINDOW, %edi
	mov	$WINDOW + 64, %esi
	mov	$16, %ecx
	rep movsb
	mov	$16, %ecx
	rep stosq
	mov	$WINDOW, %edi
	mov	$16, %ecx
	repne scasb
	mov	$WINDOW, %edi
	mov	$WINDOW, %esi
	mov	$16, %ecx
	repe cmpsb
	mov	$16, %ecx
	rep lodsb
	xor	%ecx, %ecx
	rep stosb
	END	rep

	CASE	others, "instructions that only end a translated block are no branches"
	cli
	mov	%cr3, %rax
	mov	%rax, %cr3
	mov	%cr0, %rax
	mov	%rax, %cr0
	mov	$SEL_DATA, %eax
	mov	%eax, %ss
	mov	%eax, %ds
	xor	%eax, %eax
	cpuid
	invlpg	WINDOW
	rdtsc
	pause
	in	$0x80, %al
	out	%al, $0x80
	cmove	%eax, %ecx
	END	others

	/* On two pages each; and where they go is a third. */
	CASE	across, "branches that lie on two pages, and go to others"
	TAKEN	across_jmp, jmp across_jmp
	.balign	4096
	.skip	4096 - 3
across_jmp:
	TAKEN	1f, {disp32} jmp 1f
	.balign	4096
	.skip	4096 - 1
1:	TAKEN	2f, jmp 2f
	nop
2:	cmp	%eax, %eax
	TAKEN	3f, {disp32} je 3f
	.balign	4096
3:	TAKEN	4f, {disp32} call 4f
	STORES	5f, 6f
6:	END	across
4:	nop
5:	ret

	.section .note.GNU-stack, "", @progbits
