// borrowed N threads|deep: computes N times on the stack, and then with the stack pointer in a block of the
// heap that has no room for a signal's frame, as virtual machines do: in two threads, or in one while much of
// its stack is in use. Prints how often the block was damaged.
#include "harmed.h"

#define SIZE (64 * KIB)
#define TOP (SIZE / 2 + 256)
#define FILL 0xA5

static uint64_t count;
static unsigned char expected[TOP];
static atomic_int damaged;

/// Leaves the stack for about half a millisecond: nothing is pushed meanwhile.
FUNCTION void compute_elsewhere(void *top) {
    uint64_t value = 1, stack = 0, rounds = ROUNDS_PER_MS;
    __asm__ volatile(
        "mov %%rsp, %1\n"
        "mov %3, %%rsp\n"
        "1: imul $1103515245, %0, %0\n"
        "dec %2\n"
        "jnz 1b\n"
        "mov %1, %%rsp\n"
        : "+r"(value), "=&r"(stack), "+r"(rounds)
        : "r"(top)
        : "cc", "memory");
}

static void work(void) {
    unsigned char *block = malloc(SIZE);
    if (block == NULL) fail("malloc");
    compute(20);
    for (uint64_t round = 0; round < count; round++) {
        memset(block, FILL, SIZE);
        compute(round % 8 == 7 ? 3 : 0.4);
        compute_elsewhere(block + TOP);
        damaged += memcmp(block, expected, TOP) != 0;
    }
}

static void *work_in_thread(void *unused) {
    work();
    return unused;
}

int main(int argc, char **argv) {
    count = count_argument(argc, argv, 1, 40);
    memset(expected, FILL, TOP);
    if (argc > 2 && strcmp(argv[2], "deep") == 0) {
        descend(work, 1);
    } else {
        const pthread_t other = begin(work_in_thread, NULL);
        work();
        pthread_join(other, NULL);
    }
    printf("damaged %d times\n", damaged);
    return 7;
}
