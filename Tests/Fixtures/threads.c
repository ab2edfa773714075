// threads [N [M]]: N threads (default 4) at once compute for M rounds each (default 30,000,000),
// prints their checksum.
// Truth: threads_cpu (of all N together), threads_wall.
#include <pthread.h>

#include "fixture.h"

static uint64_t rounds;
static atomic_ullong checksum;
static atomic_llong cpu;

FUNCTION uint64_t work(uint64_t state, uint64_t count) {
    BURN(state, count);
    return state;
}

static void *thread_main(void *number) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t result = work((uintptr_t)number + 1, rounds);
    atomic_fetch_add(&cpu, nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start);
    atomic_fetch_add(&checksum, result);
    return NULL;
}

int main(int argc, char **argv) {
    uint64_t count = count_argument(argc, argv, 1, 4);
    rounds = count_argument(argc, argv, 2, 30000000);
    pthread_t *threads = calloc(count + 1, sizeof *threads);
    if (threads == NULL) fail("calloc");
    int64_t wall = nanoseconds(CLOCK_MONOTONIC);
    for (uintptr_t number = 0; number < count; number++) {
        errno = pthread_create(&threads[number], NULL, thread_main, (void *)number);
        if (errno != 0) fail("pthread_create");
    }
    for (uint64_t number = 0; number < count; number++) pthread_join(threads[number], NULL);
    truth_set("threads_wall", nanoseconds(CLOCK_MONOTONIC) - wall);
    truth_set("threads_cpu", atomic_load(&cpu));
    free(threads);
    printf("checksum %016llx\n", (unsigned long long)atomic_load(&checksum));
    truth_write();
    return 0;
}
