// overlooked: before main, stops its parent while it computes for 20 ms of CPU time, as if a recorder
// had no core that long.
#include <signal.h>

#include "fixture.h"

FUNCTION uint64_t burn_overlooked(uint64_t state) {
    const int64_t end = nanoseconds(CLOCK_THREAD_CPUTIME_ID) + 20000000;
    while (nanoseconds(CLOCK_THREAD_CPUTIME_ID) < end) BURN(state, ROUNDS_PER_MS / 4);
    return state;
}

__attribute__((constructor)) static void compute_overlooked(void) {
    const pid_t recorder = getppid();
    if (kill(recorder, SIGSTOP) != 0) fail("kill");
    const uint64_t state = burn_overlooked(1);
    if (kill(recorder, SIGCONT) != 0) fail("kill");
    if (state == 0) fail("burn_overlooked");
}

int main(void) { return 0; }
