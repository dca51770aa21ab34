// SPDX-License-Identifier: GPL-2.0-only
/* What prog-states.S does, by its own arithmetic. */
#include "programs.h"
#include "truth.h"

#define STATES "prog-states"

int states_compute(struct truth *truth_ret)
{
	__u64 start = program_symbol(STATES, "_start");
	__u64 next = program_symbol(STATES, "states_next");
	__u64 last = program_symbol(STATES, "states_last");
	__u64 jump = program_symbol(STATES, "states_jump");
	__u64 out = program_symbol(STATES, "states_out");
	__u64 states = program_symbol(STATES, "states");
	__u64 x = STATES_SEED;
	int err;

	*truth_ret = (struct truth){ .end = jump };
	if (!start || !next || !last || !jump || !out || !states)
		return -1;
	err = truth_add(truth_ret, 0, start, true);
	for (unsigned int i = 1; i < STATES_ROUNDS && !err; i++) {
		x = x * STATES_FACTOR + STATES_SUM;
		__u64 state = states + 16 * (x >> 60);

		err = truth_add(truth_ret, jump, state, false);
		if (!err)
			err = truth_add(truth_ret, state, next, false);
	}
	if (!err)
		err = truth_add(truth_ret, last, out, false);
	truth_ret->end = states - 1;
	return err;
}
