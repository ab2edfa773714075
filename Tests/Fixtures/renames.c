// renames: threads that get their names late. Three call themselves "early 0" to "early 2" 3 ms
// after they began, end after 100 ms and are gone when main goes on; "late" does so after 200 ms,
// and ends after 400. "brief" takes its name after 1 ms and ends after 25. "asleep" gets its name
// from the main thread, while it waits, and is there to the end. Prints `named` when all is over
// but the last, then waits for the end of stdin.
#include <pthread.h>
#include <sys/prctl.h>

#include "fixture.h"

static atomic_ullong checksum;
/// "asleep" has begun; and main has named it.
static int begun[2], awake[2];

/// Computes until this many milliseconds after `start`.
FUNCTION static void work_until(int64_t start, int milliseconds) {
    uint64_t state = 1;
    while (nanoseconds(CLOCK_MONOTONIC) - start < milliseconds * 1000000LL)
        BURN(state, ROUNDS_PER_MS / 20);
    atomic_fetch_add(&checksum, state);
}

static void take_name(const char *name) {
    if (prctl(PR_SET_NAME, name) != 0) fail("prctl");
}

static void *early(void *number) {
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    char name[16];
    snprintf(name, sizeof name, "early %d", (int)(intptr_t)number);
    work_until(start, 3);
    take_name(name);
    work_until(start, 100);
    return NULL;
}

static void *late(void *unused) {
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    work_until(start, 200);
    take_name("late");
    work_until(start, 400);
    return unused;
}

static void *brief(void *unused) {
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    work_until(start, 1);
    take_name("brief");
    work_until(start, 25);
    return unused;
}

static void send_byte(const int channel[2]) {
    if (write(channel[1], "x", 1) != 1) fail("write");
}

static void await_byte(int descriptor) {
    char byte;
    while (read(descriptor, &byte, 1) < 0)
        if (errno != EINTR) fail("read");
}

static void *asleep(void *unused) {
    send_byte(begun);
    await_byte(awake[0]);
    return unused;
}

static pthread_t begin(void *(*run)(void *), intptr_t number) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, run, (void *)number);
    if (errno != 0) fail("pthread_create");
    return thread;
}

int main(void) {
    if (pipe(begun) != 0 || pipe(awake) != 0) fail("pipe");
    pthread_t sleeper = begin(asleep, 0);
    await_byte(begun[0]);
    pthread_setname_np(sleeper, "asleep");
    // One after the other, so that the cores suffice.
    for (intptr_t number = 0; number < 3; number++) pthread_join(begin(early, number), NULL);
    pthread_join(begin(brief, 0), NULL);
    pthread_join(begin(late, 0), NULL);
    printf("named\n");
    fflush(stdout);
    await_byte(STDIN_FILENO);
    send_byte(awake);
    pthread_join(sleeper, NULL);
    return 0;
}
