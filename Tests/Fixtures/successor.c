// successor [LEFT]: four threads compute, and a fifth executes the program anew, LEFT times (default
// 30), while they do. The last one prints how often that was. Exits with status 4.
#include <pthread.h>

#include "fixture.h"

#define COMPUTING 4

static pthread_barrier_t all_up;
static uint64_t left, total;

/// Until the process is another program.
__attribute__((noreturn)) static void *compute_for_ever(void *unused) {
    (void)unused;
    pthread_barrier_wait(&all_up);
    for (;;) {
        uint64_t state = 1;
        BURN(state, ROUNDS_PER_MS);
    }
}

static void *execute(void *unused) {
    pthread_barrier_wait(&all_up);
    uint64_t state = 1;
    BURN(state, 5 * ROUNDS_PER_MS);
    char rest[24], all[24];
    snprintf(rest, sizeof rest, "%llu", (unsigned long long)left - 1);
    snprintf(all, sizeof all, "%llu", (unsigned long long)total);
    execl("/proc/self/exe", "successor", rest, all, (char *)NULL);
    fail("execl");
    return unused;
}

int main(int argc, char **argv) {
    left = count_argument(argc, argv, 1, 30);
    total = count_argument(argc, argv, 2, left);
    if (left == 0) {
        printf("executed %llu times\n", (unsigned long long)total);
        return 4;
    }
    pthread_t thread;
    errno = pthread_barrier_init(&all_up, NULL, COMPUTING + 1);
    if (errno != 0) fail("pthread_barrier_init");
    for (int index = 0; index <= COMPUTING; index++) {
        errno = pthread_create(&thread, NULL, index ? compute_for_ever : execute, NULL);
        if (errno != 0) fail("pthread_create");
    }
    pthread_join(thread, NULL);
    return 125;
}
