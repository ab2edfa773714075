// stacks MODE: computes for 150 ms a thread or coroutine, on stacks that have little room.
//   smallest [USED]           two threads with the smallest stack that the C library gives, of
//                             which USED bytes (default 6144) are in use
//   given [SIZE [USED]]       a thread on a stack of SIZE bytes (default 32768) from malloc
//   coroutine [SIZE [USED]]   two coroutines (swapcontext) on stacks of SIZE bytes (default 16384)
//                             from malloc, which take turns; USED bytes (default 1024) in use
//   deep                      a thread that goes down to 2,500 bytes before its stack's end, 20,000
//                             times for a moment
//   alternate                 a thread with an alternate stack of MINSIGSTKSZ bytes
// Stacks from malloc have a guard area below them: prints how many of its bytes were overwritten,
// and a checksum. Exits with 0 if none was.
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "fixture.h"

#define GUARD 16384
#define TURNS 150

static uint64_t used;

/// A stack from malloc, with a guard area below it, which must stay unchanged.
struct stack {
    unsigned char *memory;
    size_t size;
};

static struct stack make_stack(size_t size) {
    struct stack stack = {NULL, size};
    if (posix_memalign((void **)&stack.memory, 4096, GUARD + size) != 0) exit(125);
    memset(stack.memory, 0xA5, GUARD + size);
    return stack;
}

static unsigned char *bottom(const struct stack *stack) { return stack->memory + GUARD; }

static uint64_t overwritten(const struct stack *stack) {
    uint64_t count = 0;
    for (size_t index = 0; index < GUARD; index++) count += stack->memory[index] != 0xA5;
    return count;
}

static int report(uint64_t checksum, uint64_t damage) {
    printf("checksum %016llx overwritten %llu\n", (unsigned long long)checksum,
           (unsigned long long)damage);
    return damage == 0 ? 0 : 1;
}

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

/// The room that is in use: written before the work, and read after it.
static uint64_t fill(volatile unsigned char *room) {
    for (uint64_t index = 0; index < used; index++) room[index] = (unsigned char)index;
    return 1;
}

static uint64_t sum(volatile unsigned char *room) {
    uint64_t sum = 0;
    for (uint64_t index = 0; index < used; index++) sum = sum * 31 + room[index];
    return sum;
}

static void *compute_deep(void *unused) {
    (void)unused;
    volatile unsigned char *room = alloca(used + 1);
    uint64_t state = compute(fill(room), 150);
    return (void *)(uintptr_t)(state + sum(room));
}

static uint64_t join(pthread_t thread) {
    void *result;
    errno = pthread_join(thread, &result);
    if (errno != 0) fail("pthread_join");
    return (uintptr_t)result;
}

static int run_smallest(void) {
    pthread_t threads[2];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    errno = pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    if (errno != 0) fail("pthread_attr_setstacksize");
    for (int index = 0; index < 2; index++) {
        errno = pthread_create(&threads[index], &attributes, compute_deep, NULL);
        if (errno != 0) fail("pthread_create");
    }
    return report(join(threads[0]) + join(threads[1]), 0);
}

static int run_given(size_t size) {
    struct stack stack = make_stack(size);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    errno = pthread_attr_setstack(&attributes, bottom(&stack), stack.size);
    if (errno != 0) fail("pthread_attr_setstack");
    errno = pthread_create(&thread, &attributes, compute_deep, NULL);
    if (errno != 0) fail("pthread_create");
    uint64_t checksum = join(thread);
    return report(checksum, overwritten(&stack));
}

static ucontext_t main_context, contexts[2];
static uint64_t results[2];

/// Computes, and gives way to the other, with its room in use.
static void coroutine_main(int number) {
    volatile unsigned char *room = alloca(used + 1);
    uint64_t state = fill(room) + (uint64_t)number;
    for (int turn = 0; turn < TURNS; turn++) {
        state = compute(state, 1);
        if (swapcontext(&contexts[number], &contexts[1 - number]) != 0) exit(125);
    }
    results[number] = state + sum(room);
    // The first leaves the second to finish; the second goes back to main.
    setcontext(number == 0 ? &contexts[1] : &main_context);
}

static void make_coroutine(int number, const struct stack *stack) {
    ucontext_t *context = &contexts[number];
    if (getcontext(context) != 0) fail("getcontext");
    context->uc_stack.ss_sp = bottom(stack);
    context->uc_stack.ss_size = stack->size;
    context->uc_link = NULL;
    // makecontext's own way to pass an argument.
    makecontext(context, (void (*)(void))(uintptr_t)coroutine_main, 1, number);
}

static int run_coroutine(size_t size) {
    struct stack stacks[] = {make_stack(size), make_stack(size)};
    make_coroutine(0, &stacks[0]);
    make_coroutine(1, &stacks[1]);
    if (swapcontext(&main_context, &contexts[0]) != 0) fail("swapcontext");
    return report(results[0] + results[1], overwritten(&stacks[0]) + overwritten(&stacks[1]));
}

/// Goes on until little is left of the stack.
FUNCTION uint64_t descend(uintptr_t limit, uint64_t state) {
    volatile unsigned char here[64];
    here[0] = (unsigned char)state;
    if ((uintptr_t)here > limit) state = descend(limit, state + 1);
    return state + here[0];
}

static void *compute_deeply(void *low) {
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        state = descend((uintptr_t)low + 2500, state);
        // The most of the time it is far from there.
        BURN(state, ROUNDS_PER_MS / 50);
    }
    return (void *)(uintptr_t)state;
}

static int run_deep(void) {
    const size_t size = 65536, guard = 4096;
    unsigned char *memory = mmap(NULL, guard + size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) fail("mmap");
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    errno = pthread_attr_setstack(&attributes, memory + guard, size);
    if (errno != 0) fail("pthread_attr_setstack");
    errno = pthread_create(&thread, &attributes, compute_deeply, memory + guard);
    if (errno != 0) fail("pthread_create");
    return report(join(thread), 0);
}

/// The kernel's frame for a signal may be larger than that.
static int run_alternate(void) {
    static unsigned char memory[2048];
    memset(memory, 0xA5, sizeof memory);
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    if (sigaltstack(&stack, NULL) != 0) fail("sigaltstack");
    uint64_t state = compute(1, 300);
    uint64_t damage = 0;
    for (size_t index = 0; index < sizeof memory; index++) damage += memory[index] != 0xA5;
    return report(state, damage);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "smallest") == 0) {
        used = count_argument(argc, argv, 2, 6144);
        return run_smallest();
    }
    used = count_argument(argc, argv, 3, 1024);
    if (strcmp(mode, "given") == 0) return run_given(count_argument(argc, argv, 2, 32768));
    if (strcmp(mode, "coroutine") == 0) return run_coroutine(count_argument(argc, argv, 2, 16384));
    if (strcmp(mode, "deep") == 0) return run_deep();
    if (strcmp(mode, "alternate") == 0) return run_alternate();
    fprintf(stderr, "usage: stacks smallest [USED] | deep | alternate | given | coroutine [SIZE [USED]]\n");
    return 125;
}
