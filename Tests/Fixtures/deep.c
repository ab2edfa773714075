// deep [N]: calls itself N times (default 1000) with small frames, computes for ~50 ms at the
// bottom, and prints a checksum.
// Truth: bottom_cpu.
#include "fixture.h"

#define DEEPEST 100000

FUNCTION uint64_t burn_at_bottom(uint64_t state) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    BURN(state, 50 * ROUNDS_PER_MS);
    truth_set("bottom_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    return state;
}

FUNCTION uint64_t descend(uint64_t left) {
    uint64_t result = left == 0 ? burn_at_bottom(1) : descend(left - 1);
    // Something to do after the call, so that it does not become a jump.
    MIX(result);
    return result;
}

int main(int argc, char **argv) {
    uint64_t depth = count_argument(argc, argv, 1, 1000);
    if (depth > DEEPEST) {
        fprintf(stderr, "deep: at most %d\n", DEEPEST);
        return 125;
    }
    printf("checksum %016llx\n", (unsigned long long)descend(depth));
    truth_write();
    return 0;
}
