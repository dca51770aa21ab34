// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bug whose stack shows the call through a spoiled pointer, but not what spoiled it:
 * that returned long ago. The branch history shows both.
 */
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct meter {
	char label[16];
	int (*show)(const struct meter *meter);
	int value;
};

static int show_decimal(const struct meter *meter)
{
	return printf("%s: %d\n", meter->label, meter->value);
}

static struct meter meter = { "meter", show_decimal, 0 };

static int add(const char *argument)
{
	meter.value += argument[0] - '0';
	return 0;
}

/* The bug: @size is not the label's, and strncpy() pads with zeros up to it. */
static void set_label(char *label, const char *text, size_t size)
{
	strncpy(label, text, size);
}

static int rename_meter(const char *argument)
{
	set_label(meter.label, argument, sizeof(meter.label) + sizeof(meter.show));
	return 0;
}

static int show(const char *argument)
{
	(void)argument;
	return meter.show(&meter);
}

static const struct command {
	char name;
	int (*run)(const char *argument);
} commands[] = {
	{ 'a', add },
	{ 'r', rename_meter },
	{ 's', show },
};

static const struct command *find_command(char name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (commands[i].name == name)
			return &commands[i];
	}
	return NULL;
}

static int run_line(const char *line)
{
	const struct command *command = find_command(line[0]);
	return command ? command->run(line + 2) : -1;
}

int main(void)
{
	static const char *const lines[] = { "a 4", "s", "r volts", "a 7", "s" };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (run_line(lines[i]) < 0)
			return 1;
	}
	return 0;
}
