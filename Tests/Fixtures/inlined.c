// inlined: outer calls middle calls inner_loop, which computes for ~100 ms; the latter two are
// inlined into outer.
// Truth: outer_cpu.
#include "fixture.h"

#define INLINED static inline __attribute__((always_inline))

INLINED uint64_t inner_loop(uint64_t state, uint64_t rounds) {
    BURN(state, rounds);
    return state;
}

INLINED uint64_t middle(uint64_t state, uint64_t milliseconds) {
    state = inner_loop(state, milliseconds * ROUNDS_PER_MS);
    return state ^ 0x5555;
}

FUNCTION uint64_t outer(uint64_t state) {
    return middle(state, 100) + 1;
}

int main(void) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t checksum = outer(1);
    truth_set("outer_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return 0;
}
