// heapstack [N [DEPTH]]: computes, N times (default 300), first on the thread's stack and then with
// the stack pointer in a block of the heap that has no room for a signal's frame, as virtual
// machines do (Erlang's). DEPTH bytes of the stack (default 0) are in use meanwhile. Prints how
// often the memory below the stack pointer had changed; 1 if it ever had.
#include "fixture.h"

#define SIZE 65536
#define FILL 0xA5

/// Leaves the stack for about half a millisecond: nothing is pushed meanwhile.
FUNCTION uint64_t compute_elsewhere(void *top, uint64_t rounds) {
    uint64_t value = 1, stack = 0;
    __asm__ volatile(
        "mov %%rsp, %1\n"
        "mov %3, %%rsp\n"
        "1: imul $1103515245, %0, %0\n"
        "add $12345, %0\n"
        "dec %2\n"
        "jnz 1b\n"
        "mov %1, %%rsp\n"
        : "+r"(value), "=&r"(stack), "+r"(rounds)
        : "r"(top)
        : "cc", "memory");
    return value;
}

FUNCTION int compute_in_turns(uint64_t count) {
    unsigned char *block = malloc(SIZE);
    if (block == NULL) fail("malloc");
    uint64_t state = 1, changed = 0;
    BURN(state, 100 * ROUNDS_PER_MS);
    for (uint64_t index = 0; index < count; index++) {
        memset(block, FILL, SIZE);
        BURN(state, ROUNDS_PER_MS);
        state ^= compute_elsewhere(block + SIZE / 2 + 256, ROUNDS_PER_MS) | 1;
        int is_same = 1;
        for (int place = 0; place < SIZE / 2; place++) is_same &= block[place] == FILL;
        changed += !is_same;
    }
    printf("changed %llu times\n", (unsigned long long)changed);
    return changed != 0;
}

int main(int argc, char **argv) {
    const uint64_t count = count_argument(argc, argv, 1, 300), depth = count_argument(argc, argv, 2, 0);
    if (depth > 1 << 20) fail("depth");
    volatile unsigned char used[depth + 1];
    for (uint64_t place = 0; place <= depth; place += 1024) used[place] = 0;
    return compute_in_turns(count) + used[0];
}
