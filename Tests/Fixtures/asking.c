// asking: computes for some 0.3 s in all, and asks all the while for the action of SIGURG, which is
// not set; then sets a handler, sends itself some, and asks again. Prints the answers.
#include <signal.h>

#include "fixture.h"

#define ROUNDS 40

static volatile sig_atomic_t received;

static void count(int signal) { received += signal == SIGURG; }

FUNCTION uint64_t work(uint64_t milliseconds) {
    uint64_t state = 1;
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

int main(void) {
    struct sigaction old, own = {.sa_handler = count, .sa_flags = SA_RESTART};
    int asked = 0, kept = 0;
    for (int round = 0; round < ROUNDS; round++) {
        work(4);
        if (sigaction(SIGURG, NULL, &old) != 0) fail("sigaction");
        asked += old.sa_handler == SIG_DFL && old.sa_flags == 0;
    }
    if (sigaction(SIGURG, &own, &old) != 0) fail("sigaction");
    asked += old.sa_handler == SIG_DFL;
    for (int round = 0; round < ROUNDS; round++) {
        work(3);
        raise(SIGURG);
        if (sigaction(SIGURG, NULL, &old) != 0) fail("sigaction");
        kept += old.sa_handler == count;
    }
    printf("default %d own %d signals %d\n", asked, kept, (int)received);
    return 0;
}
