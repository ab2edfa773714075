// altstack: a handler on an alternate stack computes for ~100 ms, called in the middle of a loop.
// Another thread sends the signal once the loop runs; 1 if it did not arrive inside the loop.
// Truth: handler_cpu, loop_cpu (without the handler's).
#include <pthread.h>
#include <signal.h>

#include "fixture.h"

#define BLOCKS 200

static char alternate_stack[64 * 1024];
static pthread_t main_thread;
static int started[2];
static volatile sig_atomic_t loop_runs;
static volatile sig_atomic_t interrupted_loop_runs;
static volatile int64_t handler_cpu;

FUNCTION uint64_t burn_in_handler(uint64_t state) {
    BURN(state, 100 * ROUNDS_PER_MS);
    return state;
}

static void handler(int number) {
    (void)number;
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    volatile uint64_t result = burn_in_handler(1);
    (void)result;
    if (loop_runs) interrupted_loop_runs++;
    handler_cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

/// Computes for ~200 ms, and says so after the first percent.
FUNCTION uint64_t interrupted_loop(uint64_t state) {
    for (int block = 0; block < BLOCKS; block++) {
        BURN(state, ROUNDS_PER_MS);
        if (block == BLOCKS / 100 && write(started[1], "", 1) != 1) fail("write");
    }
    return state;
}

static void *send_signal(void *unused) {
    (void)unused;
    char byte;
    ssize_t length;
    do length = read(started[0], &byte, 1);
    while (length < 0 && errno == EINTR);
    if (length == 1) pthread_kill(main_thread, SIGUSR1);
    return NULL;
}

static void install_handler(void) {
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    if (sigaltstack(&stack, NULL) != 0) fail("sigaltstack");
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    if (sigaction(SIGUSR1, &action, NULL) != 0) fail("sigaction");
}

int main(void) {
    install_handler();
    main_thread = pthread_self();
    if (pipe(started) != 0) fail("pipe");
    pthread_t sender;
    errno = pthread_create(&sender, NULL, send_signal, NULL);
    if (errno != 0) fail("pthread_create");

    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    loop_runs = 1;
    uint64_t checksum = interrupted_loop(1);
    loop_runs = 0;
    int64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;

    pthread_join(sender, NULL);
    truth_set("handler_cpu", handler_cpu);
    truth_set("loop_cpu", cpu - handler_cpu);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return interrupted_loop_runs == 1 ? 0 : 1;
}
