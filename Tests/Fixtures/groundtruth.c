// groundtruth: known work in a constructor, in two functions of main, in a second thread that main
// joins, and a known sleep.
// Truth: constructor_cpu (~80 ms), alpha_cpu (~150 ms), beta_cpu (~100 ms), thread_cpu (~120 ms),
// join_wall (~120 ms), sleep_wall (~150 ms), main_wall and main_cpu (since main began), and
// main_thread_cpu (since the thread exists: execve and the dynamic linker are in it).
#include <pthread.h>

#include "fixture.h"

static uint64_t checksum = 1;

FUNCTION uint64_t burn_in_constructor(uint64_t state) {
    BURN(state, 80 * ROUNDS_PER_MS);
    return state;
}

FUNCTION uint64_t burn_alpha(uint64_t state) {
    BURN(state, 150 * ROUNDS_PER_MS);
    return state;
}

FUNCTION uint64_t burn_beta(uint64_t state) {
    BURN(state, 100 * ROUNDS_PER_MS);
    return state;
}

FUNCTION uint64_t burn_thread(uint64_t state) {
    BURN(state, 120 * ROUNDS_PER_MS);
    return state;
}

FUNCTION int known_sleep(void) {
    struct timespec left = {0, 150000000};
    while (nanosleep(&left, &left) != 0) {
        if (errno != EINTR) return -1;
    }
    return 0;
}

/// Runs `work` and keeps the CPU time that the calling thread spent in it.
static void measure_cpu(const char *name, uint64_t (*work)(uint64_t)) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t result = work(checksum);
    truth_set(name, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    checksum = result;
}

static void *thread_main(void *unused) {
    (void)unused;
    measure_cpu("thread_cpu", burn_thread);
    return NULL;
}

FUNCTION void run_and_join_thread(void) {
    pthread_t thread;
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    errno = pthread_create(&thread, NULL, thread_main, NULL);
    if (errno != 0) fail("pthread_create");
    pthread_join(thread, NULL);
    truth_set("join_wall", nanoseconds(CLOCK_MONOTONIC) - start);
}

__attribute__((constructor)) static void constructor(void) {
    measure_cpu("constructor_cpu", burn_in_constructor);
}

int main(void) {
    int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    int64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    measure_cpu("alpha_cpu", burn_alpha);
    measure_cpu("beta_cpu", burn_beta);
    run_and_join_thread();
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    if (known_sleep() != 0) fail("nanosleep");
    truth_set("sleep_wall", nanoseconds(CLOCK_MONOTONIC) - start);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_set("main_wall", nanoseconds(CLOCK_MONOTONIC) - wall);
    truth_set("main_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu);
    truth_set("main_thread_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID));
    truth_write();
    return 0;
}
