// brief: computes for ~4 ms, prints a checksum, and exits with status 7.
#include "fixture.h"

FUNCTION uint64_t compute(uint64_t state) {
    BURN(state, 4 * ROUNDS_PER_MS);
    return state;
}

int main(void) {
    printf("checksum %016llx\n", (unsigned long long)compute(1));
    return 7;
}
