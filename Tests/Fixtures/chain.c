// chain: the main thread waits for B, which waits for C. Each computes for a known time, and says
// how long it took from the moment at which the main thread began to wait:
//   main computes 30 ms, waits for B, computes 30 ms; B waits for C, computes 40 ms; C computes 60 ms
// Truth: c (until C is done), b (from there until B is), tail (from there to the end), and the
// threads' ids main_tid, b_tid, c_tid.
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "fixture.h"

static sem_t c_may, c_done, b_done;
static int64_t c_end, b_end;

static void compute(uint64_t milliseconds) {
    uint64_t state = 88172645463325252;
    BURN(state, milliseconds * ROUNDS_PER_MS);
}

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0)
        if (errno != EINTR) fail("sem_wait");
}

static void *run_c(void *unused) {
    truth_set("c_tid", syscall(SYS_gettid));
    wait_for(&c_may);
    compute(60);
    c_end = nanoseconds(CLOCK_MONOTONIC);
    sem_post(&c_done);
    return unused;
}

static void *run_b(void *unused) {
    truth_set("b_tid", syscall(SYS_gettid));
    wait_for(&c_done);
    compute(40);
    b_end = nanoseconds(CLOCK_MONOTONIC);
    sem_post(&b_done);
    return unused;
}

int main(void) {
    pthread_t b, c;
    sem_init(&c_may, 0, 0);
    sem_init(&c_done, 0, 0);
    sem_init(&b_done, 0, 0);
    if (pthread_create(&b, NULL, run_b, NULL) != 0 || pthread_create(&c, NULL, run_c, NULL) != 0)
        fail("pthread_create");
    compute(30);
    sem_post(&c_may);
    int64_t start = nanoseconds(CLOCK_MONOTONIC);
    wait_for(&b_done);
    compute(30);
    int64_t end = nanoseconds(CLOCK_MONOTONIC);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    truth_set("main_tid", getpid());
    truth_set("c", c_end - start);
    truth_set("b", b_end - c_end);
    truth_set("tail", end - b_end);
    truth_write();
    return 0;
}
