// What the harmed programs share, beside what the fixtures do. Each prints what must always be the same, and
// exits with status 7.
#ifndef HARMED_H
#define HARMED_H

#include <pthread.h>
#include <sys/mman.h>

#include "../../Fixtures/fixture.h"

#define KIB 1024L
#define MIB (1024 * KIB)
#define NS_PER_MS 1000000LL

static inline int64_t now(void) { return nanoseconds(CLOCK_MONOTONIC); }

/// Computes until this time has passed.
FUNCTION void compute(double milliseconds) {
    const int64_t end = now() + (int64_t)(milliseconds * NS_PER_MS);
    uint64_t state = 1;
    while (now() < end) BURN(state, 4000);
}

static inline pthread_t begin(void *(*function)(void *), void *argument) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, function, argument);
    if (errno != 0) fail("pthread_create");
    return thread;
}

/// Calls a function while 70,000 bytes of the stack are in use, if it is to be deep.
FUNCTION void descend(void (*function)(void), int is_deep) {
    volatile char used[is_deep ? 70000 : 1];
    used[0] = used[sizeof used - 1] = 1;
    function();
    used[0] = 2;
}

#endif
