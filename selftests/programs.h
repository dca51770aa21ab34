/* SPDX-License-Identifier: GPL-2.0-only */
/* What the traced programs and the tests that predict them agree on. */
#ifndef SELFTESTS_PROGRAMS_H
#define SELFTESTS_PROGRAMS_H

#define PINGPONG_ROUNDS 300

/* Two branches a round: to a state, and back. */
#define STATES_ROUNDS 50000
#define STATES_SEED   0x243f6a8885a308d3
#define STATES_FACTOR 6364136223846793005
#define STATES_SUM    1442695040888963407

#endif /* SELFTESTS_PROGRAMS_H */
