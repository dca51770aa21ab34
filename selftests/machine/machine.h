/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the images share: memory, selectors, vectors; and for C a console that speaks
 * TAP, and the Debug Store.
 */
#ifndef MACHINE_H
#define MACHINE_H

#define EARLY	    0xf0000 /* real mode's segment 0xf000 */
#define START_PAGE  0xf0 /* where a SIPI finds the code of another CPU */
#define USER	    0x400000 /* code and stack at CPL 3 */
#define WINDOW	    0x600000 /* pages to map one by one */
#define UNMAPPED    0x7ff000 /* its last one */
#define NOT_ADDRESS 0x8000000000000000
#define BIG_BUFFERS 0x1000000

/* What there is of it in real mode, too. */
#define LOW_AREAS   0x1000
#define LOW_BUFFERS 0x2000
#define LOW_RECORDS 80
#define AFTER_RESET 0x7f00 /* what of the past is remembered there */

#define SEL_CODE      0x08
#define SEL_DATA      0x10
#define SEL_USER32    0x18
#define SEL_USER_DATA 0x20
#define SEL_USER      0x28
#define SEL_USER_SS   0x30
#define SEL_BASED32   0x38
#define SEL_TSS	      0x40
#define SEL_GATE      0x50
#define CODE_BASE     0x1000 /* of SEL_BASED32 */

#define VECTOR_INT   0x30
#define VECTOR_LEAVE 0x31 /* back to the kernel's part of a case */
#define VECTOR_TELL  0x32 /* says so */
#define VECTOR_IRQ   0x40

#define SERIAL 0x3f8
#define JUMPS  40

#define SMM_BASE  0x30000 /* as after RESET */
#define SMM_CODE  (SMM_BASE + 0x8000)
#define SMM_COUNT (SMM_BASE + 0x9000)

#define MSR_STAR	0xc0000081
#define MSR_LSTAR	0xc0000082
#define MSR_FMASK	0xc0000084
#define MSR_SYSENTER_CS 0x174
#define MSR_SYSENTER_SP 0x175
#define MSR_SYSENTER_IP 0x176
#define MSR_MISC_ENABLE 0x1a0
#define MSR_DEBUGCTL	0x1d9
#define MSR_DS_AREA	0x600

#define DEBUGCTL_LBR	 0x0001
#define DEBUGCTL_BTF	 0x0002
#define DEBUGCTL_TR	 0x0040
#define DEBUGCTL_BTS	 0x0080
#define DEBUGCTL_BTINT	 0x0100
#define DEBUGCTL_OFF_OS	 0x0200
#define DEBUGCTL_OFF_USR 0x0400
#define DEBUGCTL_ON	 (DEBUGCTL_TR | DEBUGCTL_BTS)

#define APIC	   0xfee00000
#define APIC_EOI   0xb0
#define APIC_SVR   0xf0
#define APIC_ICR   0x300
#define APIC_LVTPC 0x340

#define ICR_SMI	    0x200
#define ICR_NMI	    0x400
#define ICR_INIT    0x500
#define ICR_STARTUP 0x600
#define ICR_ASSERT  0x4000
#define ICR_SELF    0x40000
#define ICR_OTHERS  0xc0000

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The fields that lead the DS area. */
enum ds_field { DS_BASE, DS_INDEX, DS_MAXIMUM, DS_THRESHOLD };

struct branch {
	u64 from;
	u64 to;
	u64 cpl; /* after it; in a record: the flags */
};

/* As case.inc writes it down. */
struct test_case {
	const char *what;
	u64 entry;
	u64 end; /* its return */
	const struct branch *first;
	const struct branch *last;
};

extern const struct test_case cases_start[], cases_end[];

/* machine.c */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void bail_out(const char *why);
bool asked_for(const char *word);

u64 read_msr(u32 msr);
void write_msr(u32 msr, u64 value);
void cpuid(u32 leaf, u32 *ecx, u32 *edx);
void write_port(u16 port, u8 value);
void send_ipi(u32 command, u32 cpu);
/* RESET, after which all starts again. */
_Noreturn void reset_machine(void);
bool was_reset(void);
/* INIT, and from the start to run_other(). */
void start_other(void);
void map_page(u64 address, u64 physical, u64 flags);

/* A DS area anywhere, its buffer of so many records, SLACK bytes longer. */
void ds_prepare(void *area, void *buffer, u64 records, u64 slack);
u64 ds_get(const void *area, enum ds_field field);
void ds_set(void *area, enum ds_field field, u64 value);
u64 record_size(void);
struct branch ds_record(const void *buffer, u64 i);

/* What an image is: its name, and its tests. */
extern const char image[];
void run_tests(void);
/* ... and what the other CPU does, if somebody starts it. */
void run_other(void);

/* traced.S: writes DEBUGCTL, calls ENTRY, clears DEBUGCTL, and jumps. */
void run_traced(u64 entry, u64 debugctl);
/* writes MSR, says false; or true if that is a #GP. */
bool try_write(u32 msr, u64 value);
extern const char traced_call[], traced_back[], traced_loop[];
/* COUNT times round a loop of one instruction: COUNT - 1 branches. */
void loop_traced(u64 debugctl, u64 count);

/* from traced_jumps JUMPS of them, of two bytes, each to the next. */
void jumps_traced(u64 debugctl);
extern const char traced_jumps[];
/* sends itself what COMMAND is to the APIC, then branches once. */
void ipi_traced(u64 debugctl, u32 command);
extern const char ipi_sent[], ipi_jmp[];
/* one branch, or write, and then a character on the console. */
void break_write(u32 msr, u64 value);
void break_jmp(void);
void break_int(void);
void break_irq(void);
void step_once(void);
extern const char smm_code[], smm_code_end[];

/* vectors.S */
extern const u64 vectors[];
extern u64 resume;
extern const char syscall_entry[], sysenter_entry[], gate_entry[];
extern const char vector_2[], vector_2_iret[];

/* start.S */
extern u64 gdt[], window_pages[];

#endif
#endif
