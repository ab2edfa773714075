// handlers [MS]: a thread spends about MS milliseconds (default 600) in handlers of its own signals: on
// its stack and on an alternate one, deep in recursion, and in a handler that interrupts another one. Both
// stacks are small and lie next to each other, so that a copy of 64 KiB from the stack pointer on has all
// of both. Prints how many signals were handled, and a checksum.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "fixture.h"

#define DEEP 40
#define ALTERNATE (24 * 1024)
#define OWN (32 * 1024)

static char *stacks;
static int64_t length;
static volatile sig_atomic_t handled;
static volatile uint64_t checksum;

FUNCTION uint64_t descend(uint64_t left, uint64_t state) {
    volatile char room[64];
    room[left & 63] = 1;
    if (left == 0)
        BURN(state, ROUNDS_PER_MS / 8);
    else
        state = descend(left - 1, state);
    // Something to do after the call, so that it does not become a jump.
    MIX(state);
    return state + (uint64_t)room[left & 63];
}

static void handle(int number) {
    handled++;
    checksum = descend(number == SIGUSR1 ? DEEP : 3, checksum + 1);
    if (number == SIGUSR1) raise(SIGUSR2);
}

/// Keeps values in many registers, whatever interrupts it.
FUNCTION uint64_t interrupted(uint64_t depth, uint64_t state) {
    uint64_t one = state + 1, two = state + 2, three = state + 3, four = state + 4;
    if (depth > 0) {
        one = interrupted(depth - 1, state);
    } else {
        raise(SIGUSR1);
        raise(SIGURG);
    }
    MIX(one);
    MIX(two);
    MIX(three);
    return one ^ two ^ three ^ four;
}

static void *run(void *unused) {
    stack_t stack = {.ss_sp = stacks, .ss_size = ALTERNATE};
    if (sigaltstack(&stack, NULL) != 0) fail("sigaltstack");
    uint64_t state = 1;
    const int64_t end = nanoseconds(CLOCK_MONOTONIC) + length;
    for (uint64_t depth = 0; nanoseconds(CLOCK_MONOTONIC) < end; depth++)
        state = interrupted(depth % 20, state);
    checksum ^= state;
    return unused;
}

static void install(int number, int flags) {
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
    if (sigaction(number, &action, NULL) != 0) fail("sigaction");
}

int main(int argc, char **argv) {
    length = (int64_t)count_argument(argc, argv, 1, 600) * 1000000;
    install(SIGUSR1, SA_ONSTACK);
    install(SIGUSR2, SA_ONSTACK);
    install(SIGURG, 0);
    stacks = mmap(NULL, ALTERNATE + OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED) fail("mmap");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    errno = pthread_attr_setstack(&attributes, stacks + ALTERNATE, OWN);
    if (errno != 0) fail("pthread_attr_setstack");
    pthread_t thread;
    errno = pthread_create(&thread, &attributes, run, NULL);
    if (errno != 0) fail("pthread_create");
    pthread_join(thread, NULL);
    printf("handled %d, checksum %016llx\n", (int)handled, (unsigned long long)checksum);
    return handled > 0 ? 0 : 1;
}
