// coroutines N shallow|deep: recursion, N times each, on four coroutines' stacks of 16 KiB in the
// heap, of which 0.7 to 3.5 KiB are left: no signal's frame fits. "deep": while much of the
// thread's own stack is in use. Prints how often the memory below a coroutine's stack was damaged.
#include <ucontext.h>

#include "harmed.h"

#define SIZE (16 * KIB)
#define FILL 0xA5
#define COROUTINES 4

static const long spare[COROUTINES] = {700, 1400, 2200, 3500};
static ucontext_t back, coroutines[COROUTINES];
static unsigned char *blocks[COROUTINES], expected[SIZE];
static uint64_t count;

FUNCTION uint64_t use_stack(int number) {
    volatile char used[200];
    used[0] = (char)number;
    const long left = (char *)__builtin_frame_address(0) - (char *)(blocks[number] + SIZE);
    uint64_t state = 1;
    if (left > spare[number] + 456)
        state = use_stack(number);
    else
        BURN(state, ROUNDS_PER_MS / 2);
    return state + (uint64_t)used[0];
}

static void run(int number) {
    for (;;) {
        use_stack(number);
        swapcontext(&coroutines[number], &back);
    }
}

static void prepare(int number) {
    ucontext_t *coroutine = &coroutines[number];
    blocks[number] = malloc(2 * SIZE);
    if (blocks[number] == NULL || getcontext(coroutine) != 0) fail("coroutine");
    coroutine->uc_stack = (stack_t){.ss_sp = blocks[number] + SIZE, .ss_size = SIZE};
    makecontext(coroutine, (void (*)(void))run, 1, number);
}

static void work(void) {
    int damaged = 0;
    compute(20);
    for (uint64_t turn = 0; turn < COROUTINES * count; turn++) {
        const int number = turn % COROUTINES;
        memset(blocks[number], FILL, SIZE);
        compute(turn % (5 * COROUTINES) == 0 ? 8 : 0.3);
        swapcontext(&back, &coroutines[number]);
        damaged += memcmp(blocks[number], expected, SIZE) != 0;
    }
    printf("damaged %d times\n", damaged);
}

int main(int argc, char **argv) {
    count = count_argument(argc, argv, 1, 10);
    memset(expected, FILL, SIZE);
    for (int number = 0; number < COROUTINES; number++) prepare(number);
    descend(work, argc > 2 && strcmp(argv[2], "deep") == 0);
    return 7;
}
