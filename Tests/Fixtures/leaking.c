// leaking [COMMAND]: loses some memory, which LeakSanitizer, by itself or as a part of
// AddressSanitizer, finds as it ends: status 23 or 1. Has a shell run the command before.
#include "fixture.h"

static void *kept;

FUNCTION void lose(void) {
    kept = malloc(4711);
    kept = strdup("another one");
    kept = NULL;
}

int main(int count, char **arguments) {
    uint64_t state = 1;
    lose();
    if (count > 1 && system(arguments[1]) != 0) return 2;
    BURN(state, 30 * ROUNDS_PER_MS);
    printf("%d\n", state != 0);
    return 0;
}
