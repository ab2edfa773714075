// A library with two constructors, compiled several times: NAME is its name, CPU how many
// milliseconds the first computes, SLEEP how many the second sleeps. The program that loads it
// reads the results of its own clocks.
#include "../fixture.h"

#define JOIN_(first, second) first##_##second
#define JOIN(first, second) JOIN_(first, second)

int64_t JOIN(NAME, began), JOIN(NAME, wall), JOIN(NAME, cpu), JOIN(NAME, sleep);

#ifdef NEEDED
extern int NEEDED(void);
#endif

__attribute__((constructor(101))) static void JOIN(NAME, compute)(void) {
    int64_t wall = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t state = 1;
    BURN(state, CPU * ROUNDS_PER_MS);
    if (state == 0) exit(1);
    JOIN(NAME, cpu) = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    JOIN(NAME, wall) = nanoseconds(CLOCK_MONOTONIC) - wall;
    JOIN(NAME, began) = wall;
}

__attribute__((constructor(102))) static void JOIN(NAME, rest)(void) {
    int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    struct timespec left = {0, SLEEP * 1000000};
    while (nanosleep(&left, &left) != 0) {
        if (errno != EINTR) exit(1);
    }
    JOIN(NAME, sleep) = nanoseconds(CLOCK_MONOTONIC) - wall;
}

int JOIN(NAME, use)(void) {
#ifdef NEEDED
    return NEEDED();
#else
    return 1;
#endif
}
