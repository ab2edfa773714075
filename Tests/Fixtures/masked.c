// masked work [MS]: computes for MS milliseconds (default 50), then blocks all signals and computes
// for 150 ms, looking now and then for a signal that is pending.
// masked wait: blocks all signals; one thread waits for any of them with sigwait, another computes,
// and the main thread computes and sends SIGUSR1 to the waiting one, five times, then SIGUSR2.
// Prints the pending and received signals. Exits with 0 if they are those that were sent.
#include <pthread.h>
#include <signal.h>

#include "fixture.h"

#define TIMES 5

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void block_all(void) {
    sigset_t all;
    sigfillset(&all);
    errno = pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (errno != 0) fail("pthread_sigmask");
}

/// Adds the signals that are pending now to `pending`.
static void look(sigset_t *pending) {
    sigset_t now;
    if (sigpending(&now) != 0) fail("sigpending");
    sigorset(pending, pending, &now);
}

static int print_signals(const char *what, const sigset_t *set) {
    int count = 0;
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(set, number) != 1) continue;
        printf("%s %d\n", what, number);
        count++;
    }
    return count;
}

static int run_work(uint64_t milliseconds) {
    uint64_t checksum = compute(1, milliseconds);
    sigset_t pending;
    sigemptyset(&pending);
    block_all();
    for (int time = 0; time < 150; time++) {
        look(&pending);
        checksum = compute(checksum, 1);
    }
    int count = print_signals("pending", &pending);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return count == 0 ? 0 : 1;
}

static int heard[2];

/// Takes signals until SIGUSR2, and says after each that it may be sent again.
static void *wait_for_signals(void *counts) {
    sigset_t all;
    sigfillset(&all);
    int number = 0;
    while (number != SIGUSR2) {
        if (sigwait(&all, &number) != 0) fail("sigwait");
        ((int *)counts)[number]++;
        if (write(heard[1], "", 1) != 1) fail("write");
    }
    return NULL;
}

static void *compute_masked(void *unused) {
    (void)unused;
    return (void *)(uintptr_t)compute(1, 150);
}

static void send(pthread_t thread, int number) {
    char byte;
    errno = pthread_kill(thread, number);
    if (errno != 0) fail("pthread_kill");
    if (read(heard[0], &byte, 1) != 1) fail("read");
}

static int run_wait(void) {
    static int counts[NSIG];
    if (pipe(heard) != 0) fail("pipe");
    block_all();
    pthread_t waiter, worker;
    errno = pthread_create(&waiter, NULL, wait_for_signals, counts);
    if (errno != 0) fail("pthread_create");
    errno = pthread_create(&worker, NULL, compute_masked, NULL);
    if (errno != 0) fail("pthread_create");
    uint64_t checksum = 1;
    for (int time = 0; time < TIMES; time++) {
        checksum = compute(checksum, 20);
        send(waiter, SIGUSR1);
    }
    send(waiter, SIGUSR2);
    void *result;
    pthread_join(waiter, NULL);
    pthread_join(worker, &result);
    int others = 0;
    for (int number = 1; number < NSIG; number++) {
        if (counts[number] > 0) printf("signal %d: %d\n", number, counts[number]);
        if (number != SIGUSR1 && number != SIGUSR2) others += counts[number];
    }
    printf("checksum %016llx\n", (unsigned long long)(checksum + (uintptr_t)result));
    return others == 0 && counts[SIGUSR1] == TIMES && counts[SIGUSR2] == 1 ? 0 : 1;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "work") == 0) return run_work(count_argument(argc, argv, 2, 50));
    if (strcmp(mode, "wait") == 0) return run_wait();
    fprintf(stderr, "usage: masked work [MS] | wait\n");
    return 125;
}
