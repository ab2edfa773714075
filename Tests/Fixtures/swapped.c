// swapped_a.so … swapped_e.so: what `swapper` loads one after the other. Each has one initialiser of
// its own, NAME, which computes for ~3 ms.
#include "fixture.h"

uint64_t result;

__attribute__((constructor)) static void NAME(void) {
    uint64_t state = 1;
    BURN(state, 3 * ROUNDS_PER_MS);
    result = state;
}
