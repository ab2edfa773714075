// crowd [W [S]]: W threads (default 4) compute and S threads (default 0) sleep until stdin ends;
// the main thread waits for that. Prints `ready` when all threads are up, at the end how many
// milliseconds' worth of work was done.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "fixture.h"

#define THREADS_LIMIT 10000

static pthread_barrier_t all_up;
static atomic_uint stopping;
static atomic_ullong portions;

FUNCTION uint64_t work(uint64_t state) {
    BURN(state, ROUNDS_PER_MS);
    return state;
}

static void *work_on(void *number) {
    uint64_t state = (uintptr_t)number + 1;
    uint64_t done = 0;
    pthread_barrier_wait(&all_up);
    for (; atomic_load(&stopping) == 0; done++) state = work(state);
    atomic_fetch_add(&portions, done);
    return NULL;
}

/// Half of them wait for a futex that is never woken, half for an hour to pass; they end with the
/// process.
static void *sleep_on(void *number) {
    static unsigned never;
    const struct timespec hour = {3600, 0};
    pthread_barrier_wait(&all_up);
    for (;;) {
        if ((uintptr_t)number % 2 == 0)
            syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
        else
            clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
    }
    return NULL;
}

static void await_end_of_input(void) {
    char byte;
    ssize_t length;
    do length = read(STDIN_FILENO, &byte, 1);
    while (length > 0 || (length < 0 && errno == EINTR));
}

int main(int argc, char **argv) {
    uint64_t workers = count_argument(argc, argv, 1, 4);
    uint64_t sleepers = count_argument(argc, argv, 2, 0);
    if (workers > THREADS_LIMIT || sleepers > THREADS_LIMIT) {
        fprintf(stderr, "crowd: at most %d threads of each kind\n", THREADS_LIMIT);
        return 125;
    }
    pthread_t *threads = calloc(workers + sleepers + 1, sizeof *threads);
    if (threads == NULL) fail("calloc");
    pthread_barrier_init(&all_up, NULL, (unsigned)(workers + sleepers + 1));
    for (uintptr_t number = 0; number < workers + sleepers; number++) {
        void *(*run)(void *) = number < workers ? work_on : sleep_on;
        errno = pthread_create(&threads[number], NULL, run, (void *)number);
        if (errno != 0) fail("pthread_create");
    }
    pthread_barrier_wait(&all_up);
    printf("ready\n");
    fflush(stdout);
    await_end_of_input();
    atomic_store(&stopping, 1);
    for (uint64_t number = 0; number < workers; number++) pthread_join(threads[number], NULL);
    printf("portions %llu\n", atomic_load(&portions));
    return 0;
}
