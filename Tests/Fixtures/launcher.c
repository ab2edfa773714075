// launcher [pool]: a first thread that makes another one at once and only waits for its end, as
// Java's launcher does. That one computes, waits in `sleep_on_it` and computes again, with two
// helpers that it makes itself. `pool`: the first thread makes two alike and waits for both.
// Truth: program (the thread's id), cpu (its CPU time), sleep (around its wait).
#include <pthread.h>

#include "fixture.h"

enum { WORK_MS = 60, SLEEP_MS = 80 };

static atomic_ullong checksum;

FUNCTION static void compute(uint64_t milliseconds) {
    uint64_t state = 1;
    BURN(state, milliseconds * ROUNDS_PER_MS);
    atomic_fetch_add(&checksum, state);
}

FUNCTION static void sleep_on_it(void) {
    const struct timespec length = {0, SLEEP_MS * 1000000};
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    nanosleep(&length, NULL);
    truth_set("sleep", nanoseconds(CLOCK_MONOTONIC) - start);
}

static void *helper(void *unused) {
    compute(1);
    return unused;
}

static pthread_t begin(void *(*run)(void *)) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, run, NULL);
    if (errno != 0) fail("pthread_create");
    return thread;
}

static void *program(void *unused) {
    compute(WORK_MS);
    for (int count = 0; count < 2; count++) pthread_join(begin(helper), NULL);
    sleep_on_it();
    compute(WORK_MS);
    truth_set("program", gettid());
    truth_set("cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID));
    return unused;
}

int main(int argc, char **argv) {
    int is_pool = argc > 1 && strcmp(argv[1], "pool") == 0;
    pthread_t other = is_pool ? begin(program) : 0;
    pthread_join(begin(program), NULL);
    if (is_pool) pthread_join(other, NULL);
    truth_write();
    return 0;
}
