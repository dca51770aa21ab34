/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kind of branch that a user program can make, taken and not taken. No
 * library, no input: each run branches the same way.
 */
#define SYS_rt_sigaction	13
#define SYS_rt_sigreturn	15
#define SYS_getpid		39
#define SYS_exit_group		231
#define SYS_close		3

#define SA_SIGINFO		0x4
#define SA_RESTORER		0x04000000
#define SA_NODEFER		0x40000000

/* Where a signal handler finds the registers: offsets into its ucontext. */
#define UC_R15			(40 + 7 * 8)
#define UC_RIP			(40 + 16 * 8)

	.text
	.globl	_start
_start:
	xor	%ebp, %ebp

	/* All sixteen conditions, in both encodings, on flags of every sort. */
	lea	pairs(%rip), %rbx
.Lpair:
	mov	(%rbx), %eax
	cmp	4(%rbx), %eax
	.irp	cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	j\cc	1f
	nop
1:
	.endr
	.irp	code, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87
	.byte	0x0f, \code
	.long	1
	nop
	.endr
	.irp	code, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f
	.byte	0x0f, \code
	.long	1
	nop
	.endr
	add	$8, %rbx
	lea	pairs_end(%rip), %rax
	cmp	%rax, %rbx
	jb	.Lpair

	/* To the next instruction: the address does not tell what happened. */
	xor	%eax, %eax
	.byte	0x74, 0			/* je, taken */
	.byte	0x75, 0			/* jne, not taken */
	.byte	0x0f, 0x84, 0, 0, 0, 0
	.byte	0x0f, 0x85, 0, 0, 0, 0
	.byte	0xeb, 0			/* jmp */
	.byte	0xe9, 0, 0, 0, 0
	.byte	0xe8, 0, 0, 0, 0	/* call */
	pop	%rax

	/* The counting ones. */
	mov	$5, %ecx
1:	nop
	loop	1b
	mov	$5, %ecx
1:	cmp	$3, %ecx
	loopne	1b
	mov	$3, %ecx
1:	cmp	%eax, %eax
	loope	1b
	xor	%ecx, %ecx
	jrcxz	1f
	nop
1:	inc	%ecx
	jrcxz	1f
	nop
1:	movabs	$0x100000000, %rcx
	jrcxz	1f
	jecxz	1f
	nop
1:
	/* Calls, returns and jumps, direct and not. */
	call	leaf
	lea	leaf(%rip), %rax
	call	*%rax
	call	*leaf_pointer(%rip)
	call	rep_leaf
	push	$1
	push	$2
	call	popping_leaf
	mov	$8, %edi
	call	fibonacci
	lea	1f(%rip), %rax
	jmp	*%rax
	nop
1:	xor	%ebx, %ebx
1:	lea	jumps(%rip), %rax
	jmp	*(%rax, %rbx, 8)
.Lcase0:
	nop
.Lcase1:
	nop
.Lcase2:
	inc	%ebx
	cmp	$3, %ebx
	jne	1b
	lea	1f(%rip), %rax
	push	%rax
	.byte	0xf2			/* bnd */
	ret
	nop
1:
	/* Far, to where it came from. */
	mov	%cs, %eax
	push	%rax
	lea	1f(%rip), %rcx
	push	%rcx
	lretq
1:	mov	%eax, far_pointer + 4(%rip)
	ljmp	*far_pointer(%rip)
	nop
far_landing:
	mov	%eax, far_call_pointer + 4(%rip)
	/* Its pushes are 32 bits wide, and QEMU's stack then too. */
	mov	%rsp, %rbx
	lea	low_stack(%rip), %rsp
	lcall	*far_call_pointer(%rip)
	mov	%rbx, %rsp
	mov	%ss, %ecx
	mov	%rsp, %rdx
	push	%rcx
	push	%rdx
	push	$0x202
	push	%rax
	lea	1f(%rip), %rcx
	push	%rcx
	iretq
	nop
1:
	/* Strings repeat without branching. */
	lea	source(%rip), %rsi
	lea	space(%rip), %rdi
	mov	$100, %ecx
	rep movsb
	mov	$300, %ecx
	rep stosb
	mov	$0xff, %al
	lea	source(%rip), %rdi
	mov	$40, %ecx
	repne scasb

	/* First touches of pages fault and come back. */
	lea	more_space(%rip), %rax
	mov	$8, %ecx
1:	incl	(%rax)
	add	$4096, %rax
	dec	%ecx
	jnz	1b
	call	*far_away(%rip)

	/* Into the kernel and back. */
	mov	$SYS_getpid, %eax
	syscall
	mov	$SYS_close, %eax
	mov	$-1, %edi
	syscall
	test	%rax, %rax
	js	1f
	nop
1:	mov	$20, %eax		/* getpid, as i386 numbers it */
	int	$0x80

	/* Signals: an access, an opcode, a breakpoint, a division. */
	.irp	sig, 11, 4, 5, 8
	mov	$SYS_rt_sigaction, %eax
	mov	$\sig, %edi
	lea	action(%rip), %rsi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	.endr
	lea	1f(%rip), %r15
	movl	$0, 0
1:	lea	1f(%rip), %r15
	ud2
1:	lea	1f(%rip), %r15
	int3
1:	lea	1f(%rip), %r15
	xor	%ecx, %ecx
	mov	$1, %eax
	cltd
	idiv	%ecx
	nop
1:	lea	1f(%rip), %r15
	xor	%eax, %eax
	call	*%rax			/* branches to nowhere */
1:	pop	%rax

	mov	$SYS_exit_group, %eax
	xor	%edi, %edi
	syscall
	hlt

leaf:
	nop
	ret

rep_leaf:
	nop
	rep ret

popping_leaf:
	ret	$16

far_leaf:
	lretl

fibonacci:
	cmp	$2, %edi
	jb	1f
	push	%rdi
	dec	%edi
	call	fibonacci
	pop	%rdi
	push	%rax
	sub	$2, %edi
	call	fibonacci
	pop	%rcx
	add	%ecx, %eax
	ret
1:	mov	%edi, %eax
	ret

/* Goes on where %r15 said. */
handler:
	mov	UC_R15(%rdx), %rax
	mov	%rax, UC_RIP(%rdx)
	ret

restorer:
	mov	$SYS_rt_sigreturn, %eax
	syscall
	hlt

	/* On a page of its own, so that the call to it faults. */
	.balign	4096
	.skip	4096, 0x90
far_away_leaf:
	ret

	.data
	.balign	8
pairs:
	.long	0, 0, 1, 2, 2, 1, -1, 1, 1, -1
	.long	0x80000000, 1, 0x7fffffff, -1, 0x80000000, 0x7fffffff
	.long	3, 0, 7, 4
pairs_end:
leaf_pointer:
	.quad	leaf
far_away:
	.quad	far_away_leaf
jumps:
	.quad	.Lcase0, .Lcase1, .Lcase2
far_pointer:
	.long	far_landing, 0
far_call_pointer:
	.long	far_leaf, 0
action:
	.quad	handler, SA_SIGINFO | SA_RESTORER | SA_NODEFER, restorer, 0
source:
	.skip	39, 0x11
	.byte	0xff
	.skip	60, 0x22

	.bss
	.balign	4096
	.skip	4096
low_stack:
space:
	.skip	32768
more_space:
	.skip	8 * 4096

	.section .note.GNU-stack, "", @progbits
