// inversion: a priority inversion on one core. The main thread waits in `wait_for_lock` for a
// mutex that the thread "low" holds in `hold_lock` while it computes, at nice 10, beside the thread
// "busy". Truth: wait (around the lock call), and low: the holder's id.
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "fixture.h"

enum { WORK_MS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_over;
static int held[2];
static uint64_t sink;

static void use_one_core(void) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) fail("sched_getaffinity");
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &allowed)) CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
}

FUNCTION static void hold_lock(void) {
    uint64_t state = 1;
    pthread_mutex_lock(&lock);
    if (write(held[1], "x", 1) != 1) fail("write");
    BURN(state, WORK_MS * ROUNDS_PER_MS);
    pthread_mutex_unlock(&lock);
    sink += state;
}

static void *low(void *unused) {
    prctl(PR_SET_NAME, "low");
    truth_set("low", gettid());
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), 10) != 0) fail("setpriority");
    hold_lock();
    return unused;
}

FUNCTION static void *busy(void *unused) {
    prctl(PR_SET_NAME, "busy");
    uint64_t state = 1;
    while (!atomic_load(&is_over)) BURN(state, ROUNDS_PER_MS / 10);
    sink += state;
    return unused;
}

FUNCTION static void wait_for_lock(void) {
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    truth_set("wait", nanoseconds(CLOCK_MONOTONIC) - start);
    pthread_mutex_unlock(&lock);
}

int main(void) {
    char byte;
    pthread_t threads[2];
    use_one_core();
    if (pipe(held) != 0) fail("pipe");
    if (pthread_create(&threads[0], NULL, low, NULL) != 0) fail("pthread_create");
    if (read(held[0], &byte, 1) != 1) fail("read");
    if (pthread_create(&threads[1], NULL, busy, NULL) != 0) fail("pthread_create");
    wait_for_lock();
    atomic_store(&is_over, 1);
    for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
    // A main thread that only waits for a thread that it made counts as replaced by that thread.
    uint64_t state = 1;
    BURN(state, 60 * ROUNDS_PER_MS);
    sink += state;
    truth_write();
    return sink == 42;
}
