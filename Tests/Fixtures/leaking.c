// leaking: loses some memory, which LeakSanitizer, part of AddressSanitizer, finds as it ends: status 1.
#include "fixture.h"

static void *kept;

FUNCTION void lose(void) {
    kept = malloc(4711);
    kept = strdup("another one");
    kept = NULL;
}

int main(void) {
    uint64_t state = 1;
    lose();
    BURN(state, 30 * ROUNDS_PER_MS);
    printf("%d\n", state != 0);
    return 0;
}
