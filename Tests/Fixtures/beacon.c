// beacon [N]: computes for N rounds (default 130,000,000, some 200 ms) and prints a checksum and
// its arguments' count.
// Truth: main_at, the moment of CLOCK_MONOTONIC at which main began.
#include "fixture.h"

FUNCTION uint64_t shine(uint64_t state, uint64_t rounds) {
    BURN(state, rounds);
    return state;
}

int main(int argc, char **argv) {
    truth_set("main_at", nanoseconds(CLOCK_MONOTONIC));
    uint64_t checksum = shine(1, count_argument(argc, argv, 1, 130000000));
    printf("checksum %016llx arguments %d\n", (unsigned long long)checksum, argc - 1);
    truth_write();
    return 0;
}
