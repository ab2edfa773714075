// churn [N]: N short-lived threads (default 500), eight at a time, each computing for about 20 us;
// prints how many ran and their checksum.
#include <pthread.h>

#include "fixture.h"

#define BATCH 8

static atomic_ullong checksum;
static atomic_ullong ended;

FUNCTION uint64_t short_work(uint64_t state) {
    BURN(state, ROUNDS_PER_MS / 50);
    return state;
}

static void *thread_main(void *number) {
    atomic_fetch_add(&checksum, short_work((uintptr_t)number + 1));
    atomic_fetch_add(&ended, 1);
    return NULL;
}

static void run_batch(uint64_t first, uint64_t count) {
    pthread_t threads[BATCH];
    for (uint64_t index = 0; index < count; index++) {
        void *number = (void *)(uintptr_t)(first + index);
        errno = pthread_create(&threads[index], NULL, thread_main, number);
        if (errno != 0) fail("pthread_create");
    }
    for (uint64_t index = 0; index < count; index++) pthread_join(threads[index], NULL);
}

int main(int argc, char **argv) {
    uint64_t count = count_argument(argc, argv, 1, 500);
    for (uint64_t first = 0; first < count; first += BATCH)
        run_batch(first, count - first < BATCH ? count - first : BATCH);
    printf("threads %llu checksum %016llx\n", atomic_load(&ended), atomic_load(&checksum));
    return 0;
}
