// spin [N [M]]: one thread computes for N rounds (default 120,000,000), prints a checksum; before
// that for M rounds (default 0) that do not count, to warm up.
// Truth: spin_cpu, spin_wall.
#include "fixture.h"

FUNCTION uint64_t spin(uint64_t state, uint64_t rounds) {
    BURN(state, rounds);
    return state;
}

int main(int argc, char **argv) {
    uint64_t rounds = count_argument(argc, argv, 1, 120000000);
    spin(1, count_argument(argc, argv, 2, 0));
    int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    int64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t checksum = spin(1, rounds);
    truth_set("spin_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    truth_set("spin_wall", nanoseconds(CLOCK_MONOTONIC) - wall);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return 0;
}
