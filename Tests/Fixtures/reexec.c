// reexec [LEFT]: computes for ~60 ms, with a thread beside it, and executes itself again, LEFT
// times (default 3). Each prints its number and checksum; the last one exits with status 4.
#include <pthread.h>

#include "fixture.h"

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

/// Computes until the process is another program.
__attribute__((noreturn)) static void *compute_for_ever(void *unused) {
    (void)unused;
    for (;;) {
        volatile uint64_t result = compute(1, 10);
        (void)result;
    }
}

int main(int argc, char **argv) {
    uint64_t left = count_argument(argc, argv, 1, 3);
    uint64_t checksum = compute(left + 1, 40);
    pthread_t thread;
    errno = pthread_create(&thread, NULL, compute_for_ever, NULL);
    if (errno != 0) fail("pthread_create");
    checksum = compute(checksum, 20);
    printf("left %llu checksum %016llx\n", (unsigned long long)left, (unsigned long long)checksum);
    fflush(stdout);
    if (left == 0) return 4;
    char count[24];
    snprintf(count, sizeof count, "%llu", (unsigned long long)left - 1);
    execl(argv[0], argv[0], count, (char *)NULL);
    fail(argv[0]);
    return 125;
}
