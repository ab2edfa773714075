// static: a small launch of known parts, to be linked in every way that a program can be:
// statically, as a static position-independent executable, at a fixed address, and stripped.
// Truth: constructor_cpu (~40 ms), burn_cpu (~60 ms).
#include "fixture.h"

static uint64_t checksum = 1;

FUNCTION uint64_t burn_in_constructor(uint64_t state) {
    BURN(state, 40 * ROUNDS_PER_MS);
    return state;
}

FUNCTION uint64_t burn_in_main(uint64_t state) {
    BURN(state, 60 * ROUNDS_PER_MS);
    return state;
}

__attribute__((constructor)) static void constructor(void) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    checksum = burn_in_constructor(checksum);
    truth_set("constructor_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
}

int main(void) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    checksum = burn_in_main(checksum);
    truth_set("burn_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return 0;
}
