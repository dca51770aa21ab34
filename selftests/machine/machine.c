// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>

#include "machine.h"

#define DEBUG_EXIT 0xf4
#define EXIT_BASE  16 /* QEMU's own statuses are lower */

#define CPUID_DTES64 (1U << 2)

struct gate {
	u16 offset_low;
	u16 selector;
	u16 type;
	u16 offset_middle;
	u32 offset_high;
	u32 reserved;
};

struct pointer {
	u16 limit;
	u64 base;
} __attribute__((packed));

static struct gate idt[VECTOR_IRQ + 1];
static u32 tss[26] __attribute__((aligned(16)));
static u8 interrupt_stack[4096] __attribute__((aligned(16)));
static char arguments[256];
static unsigned int tests;
static u64 tests_failed;

void write_port(u16 port, u8 value)
{
	asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static u8 read_port(u16 port)
{
	u8 value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void print_number(u64 value, unsigned int base)
{
	if (value >= base)
		print_number(value / base, base);
	write_port(SERIAL, "0123456789abcdef"[value % base]);
}

static void print_string(const char *string)
{
	while (*string)
		write_port(SERIAL, *string++);
}

/* %s, %lu and %#lx are all there is. */
static void print_list(const char *format, va_list args)
{
	for (; *format; format++) {
		if (*format != '%') {
			write_port(SERIAL, *format);
		} else if (format[1] == 's') {
			print_string(va_arg(args, const char *));
			format += 1;
		} else if (format[1] == 'l') {
			print_number(va_arg(args, u64), 10);
			format += 2;
		} else {
			print_string("0x");
			print_number(va_arg(args, u64), 16);
			format += 3;
		}
	}
}

void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_list(format, args);
	va_end(args);
}

void report(bool ok, const char *format, ...)
{
	va_list args;

	tests++;
	tests_failed += !ok;
	print("%sok %lu - ", ok ? "" : "not ", (u64)tests);
	va_start(args, format);
	print_list(format, args);
	va_end(args);
	print("\n");
}

static _Noreturn void leave(u8 status)
{
	print("# end %lu %s\n", (u64)status, image);
	write_port(DEBUG_EXIT, EXIT_BASE + status);
	while (true)
		asm volatile("cli; hlt");
}

void bail_out(const char *why)
{
	print("not ok %lu - %s\n", (u64)tests + 1, why);
	leave(1);
}

void unexpected(u64 vector, u64 address);
void unexpected(u64 vector, u64 address)
{
	write_msr(MSR_DEBUGCTL, 0);
	print("# exception %lu at %#lx\n", vector, address);
	bail_out("an exception that no test asked for");
}

/* Is WORD one of those that the image was started with? */
bool asked_for(const char *word)
{
	const char *at = arguments;

	while (*at) {
		size_t i = 0;

		while (word[i] && at[i] == word[i])
			i++;
		if (!word[i] && (at[i] == ' ' || at[i] == '\n' || !at[i]))
			return true;
		while (*at && *at++ != ' ')
			;
	}
	return false;
}

static void select_config(u16 key)
{
	asm volatile("outw %0, %1" : : "a"(key), "Nd"((u16)0x510));
}

static u32 read_config(unsigned int bytes)
{
	u32 value = 0;

	while (bytes--)
		value = value << 8 | read_port(0x511);
	return value;
}

/* The words come as a file of QEMU's fw_cfg device; 0x19 is its directory. */
static void read_arguments(void)
{
	static const char wanted[56] = "opt/debugstore/command";

	select_config(0x19);
	for (u32 files = read_config(4); files; files--) {
		u32 size = read_config(4);
		u16 key = read_config(4) >> 16;
		bool same = true;

		for (size_t i = 0; i < sizeof(wanted); i++)
			same &= (char)read_config(1) == wanted[i];
		if (!same)
			continue;
		select_config(key);
		for (u32 i = 0; i < size && i < sizeof(arguments) - 1; i++)
			arguments[i] = read_config(1);
		return;
	}
}

u64 read_msr(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

void write_msr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

void cpuid(u32 leaf, u32 *ecx, u32 *edx)
{
	u32 eax = leaf, ebx;

	*ecx = 0;
	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(*ecx), "=d"(*edx));
}

void send_ipi(u32 command, u32 cpu)
{
	volatile u32 *icr = (void *)(APIC + APIC_ICR + 0UL);

	icr[4] = cpu << 24;
	icr[0] = command;
}

/* A page of the window; FLAGS are those of its entry: 1 present, 2 writable, ... */
void map_page(u64 address, u64 physical, u64 flags)
{
	window_pages[(address - WINDOW) / 4096] = flags ? physical | flags : 0;
	asm volatile("invlpg (%0)" : : "r"(address) : "memory");
}

static u64 field_size(void)
{
	u32 ecx, edx;

	cpuid(1, &ecx, &edx);
	return ecx & CPUID_DTES64 ? 8 : 4;
}

static u64 get(const void *place, u64 i)
{
	return field_size() == 8 ? ((const u64 *)place)[i] : ((const u32 *)place)[i];
}

u64 ds_get(const void *area, enum ds_field field)
{
	return get(area, field);
}

void ds_set(void *area, enum ds_field field, u64 value)
{
	if (field_size() == 8)
		((volatile u64 *)area)[field] = value;
	else
		((volatile u32 *)area)[field] = value;
}

u64 record_size(void)
{
	return 3 * field_size();
}

struct branch ds_record(const void *buffer, u64 i)
{
	return (struct branch){ get(buffer, 3 * i), get(buffer, 3 * i + 1),
				get(buffer, 3 * i + 2) };
}

void ds_prepare(void *area, void *buffer, u64 records, u64 slack)
{
	u64 end = (uintptr_t)buffer + records * record_size();

	for (u8 *byte = buffer; byte < (u8 *)end + record_size(); byte++)
		*byte = 0x5a;
	ds_set(area, DS_BASE, (uintptr_t)buffer);
	ds_set(area, DS_INDEX, (uintptr_t)buffer);
	ds_set(area, DS_MAXIMUM, end + slack);
	ds_set(area, DS_THRESHOLD, ~0ULL);
	write_msr(MSR_DS_AREA, (uintptr_t)area);
}

static struct gate gate_to(u64 address, u16 type)
{
	return (struct gate){ address, SEL_CODE, type, address >> 16, address >> 32, 0 };
}

static void set_descriptors(void)
{
	u64 top = (uintptr_t)(interrupt_stack + sizeof(interrupt_stack));
	u64 base = (uintptr_t)tss;
	struct gate gate = gate_to((uintptr_t)gate_entry, 0xec00);

	tss[1] = top;
	gdt[SEL_TSS / 8] = (base & 0xffffff) << 16 | base >> 24 << 56 | 0x890000000067;
	__builtin_memcpy(&gdt[SEL_GATE / 8], &gate, sizeof(gate));
	asm volatile("ltr %w0" : : "r"(SEL_TSS));

	for (unsigned int i = 0; i < ARRAY_SIZE(idt); i++) {
		if (vectors[i])
			idt[i] = gate_to(vectors[i], i < 4 || i >= VECTOR_INT ? 0xee00 : 0x8e00);
	}
	struct pointer pointer = { sizeof(idt) - 1, (uintptr_t)idt };

	asm volatile("lidt %0" : : "m"(pointer));
}

static void set_system_calls(void)
{
	write_msr(MSR_STAR, (u64)SEL_USER32 << 48 | (u64)SEL_CODE << 32);
	write_msr(MSR_LSTAR, (uintptr_t)syscall_entry);
	write_msr(MSR_FMASK, 0x700);
	write_msr(MSR_SYSENTER_CS, SEL_CODE);
	write_msr(MSR_SYSENTER_SP, (uintptr_t)(interrupt_stack + sizeof(interrupt_stack)));
	write_msr(MSR_SYSENTER_IP, (uintptr_t)sysenter_entry);
}

void reset_machine(void)
{
	volatile u32 *starts = (void *)AFTER_RESET;

	starts[1] = *starts + 1;
	write_port(0xcf9, 6);
	while (true)
		asm volatile("cli; hlt");
}

bool was_reset(void)
{
	return *(volatile u32 *)AFTER_RESET > 1;
}

void start_other(void)
{
	send_ipi(ICR_INIT | ICR_ASSERT | ICR_OTHERS, 0);
	send_ipi(ICR_STARTUP | ICR_ASSERT | ICR_OTHERS | START_PAGE, 0);
}

void __attribute__((weak)) run_other(void)
{
}

void machine_main(void);
void machine_main(void)
{
	volatile u32 *spurious = (void *)(APIC + APIC_SVR + 0UL);

	set_descriptors();
	set_system_calls();
	*spurious = 0x1ff;
	read_arguments();
	/* Nobody clears memory but QEMU, once: our counts survive a reset. */
	volatile u32 *starts = (void *)AFTER_RESET;

	*starts += 1;
	if (*starts == 1)
		print("TAP version 13\n# start %s\n", image);
	else if (starts[1] != *starts)
		bail_out("a reset that no test asked for");
	run_tests();
	print("1..%lu\n", (u64)tests);
	leave(tests_failed ? 1 : 0);
}
