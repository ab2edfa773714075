// Two functions take turns on stacks that the program made (makecontext), each some calls deep.
// Arguments: how often; rounds of computing each time.
#include <stdlib.h>
#include <ucontext.h>

#define FUNCTION __attribute__((noinline, noclone))

static ucontext_t home, contexts[2];
static int rounds;

FUNCTION unsigned compute(int rounds) {
    volatile unsigned sum = 1;
    for (int i = 0; i < rounds; i++) sum = sum * 31 + i;
    return sum;
}

FUNCTION unsigned down(int depth) {
    unsigned sum = depth ? down(depth - 1) : compute(rounds);
    return sum + depth;
}

static void body(int number) {
    for (;;) {
        down(number * 5);
        swapcontext(&contexts[number], &home);
    }
}

int main(int argc, char **argv) {
    int turns = argc > 1 ? atoi(argv[1]) : 60;
    rounds = argc > 2 ? atoi(argv[2]) : 1000000;
    for (int number = 0; number < 2; number++) {
        ucontext_t *context = &contexts[number];
        getcontext(context);
        context->uc_stack.ss_size = 65536;
        context->uc_stack.ss_sp = malloc(context->uc_stack.ss_size);
        context->uc_link = &home;
        makecontext(context, (void (*)(void))body, 1, number);
    }
    for (int turn = 0; turn < turns; turn++)
        for (int number = 0; number < 2; number++) swapcontext(&home, &contexts[number]);
    return 0;
}
