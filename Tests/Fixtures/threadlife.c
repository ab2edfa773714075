// threadlife MODE [N]: threads that come and go.
//   churn   N threads (default 2000) of ~0.2 ms, as many as eight alive at once
//   exits   N threads (default 200) that compute for 1 to 3 ms and then end: by returning, by
//           pthread_exit in a nested call, or by the system call itself, in turn
//   main    the main thread ends with pthread_exit after 100 ms; N others (default 3) compute on
//           for 200 ms, and the last one ends the process, with status 6
// Prints how many threads ran, and their checksum.
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "fixture.h"

#define ALIVE 8

static atomic_ullong checksum;
static atomic_ullong ended;
/// One for each thread that may yet be started.
static sem_t places;

FUNCTION uint64_t compute(uint64_t state, uint64_t microseconds) {
    BURN(state, microseconds * ROUNDS_PER_MS / 1000);
    return state;
}

static uint64_t count_in(uint64_t result) {
    atomic_fetch_add(&checksum, result);
    return atomic_fetch_add(&ended, 1) + 1;
}

static void say(void) {
    printf("threads %llu checksum %016llx\n", atomic_load(&ended), atomic_load(&checksum));
}

static void start_detached(void *(*start)(void *), uint64_t number) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    errno = pthread_create(&thread, &attributes, start, (void *)(uintptr_t)number);
    if (errno != 0) fail("pthread_create");
    pthread_attr_destroy(&attributes);
}

static void take_place(void) {
    while (sem_wait(&places) != 0) {
        if (errno != EINTR) fail("sem_wait");
    }
}

static void *churn_main(void *number) {
    count_in(compute((uintptr_t)number + 1, 200));
    sem_post(&places);
    return NULL;
}

static int run_churn(uint64_t count) {
    if (sem_init(&places, 0, ALIVE) != 0) fail("sem_init");
    for (uint64_t number = 0; number < count; number++) {
        take_place();
        start_detached(churn_main, number);
    }
    for (int place = 0; place < ALIVE; place++) take_place();
    say();
    return 0;
}

FUNCTION void exit_from_within(void) { pthread_exit(NULL); }

static void *exits_main(void *argument) {
    uint64_t number = (uintptr_t)argument;
    count_in(compute(number + 1, 1000 + 1000 * (number % 3)));
    switch (number % 3) {
    case 0: return NULL;
    case 1: exit_from_within(); break;
    default: syscall(SYS_exit, 0);
    }
    return NULL;
}

static int run_exits(uint64_t count) {
    pthread_t threads[ALIVE];
    for (uint64_t number = 0; number < count; number += ALIVE) {
        for (uint64_t index = 0; index < ALIVE; index++) {
            void *argument = (void *)(uintptr_t)(number + index);
            errno = pthread_create(&threads[index], NULL, exits_main, argument);
            if (errno != 0) fail("pthread_create");
        }
        // The kernel reports a thread's end, however it came about.
        for (uint64_t index = 0; index < ALIVE; index++) pthread_join(threads[index], NULL);
    }
    say();
    return 0;
}

static uint64_t survivors;

static void *survivor_main(void *number) {
    uint64_t place = count_in(compute((uintptr_t)number + 1, 300000));
    if (place == survivors) {
        say();
        exit(6);
    }
    return NULL;
}

static int run_main(uint64_t count) {
    survivors = count;
    for (uint64_t number = 0; number < count; number++) start_detached(survivor_main, number);
    volatile uint64_t result = compute(1, 100000);
    (void)result;
    pthread_exit(NULL);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "churn") == 0) return run_churn(count_argument(argc, argv, 2, 2000));
    if (strcmp(mode, "exits") == 0) return run_exits(count_argument(argc, argv, 2, 200));
    if (strcmp(mode, "main") == 0) return run_main(count_argument(argc, argv, 2, 3));
    fprintf(stderr, "usage: threadlife churn | exits | main [N]\n");
    return 125;
}
