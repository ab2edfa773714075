// marked [MODE [COUNT]]: functions and probes to be marked. The truth has the nanoseconds that the
// program itself measured, and how often it passed each place; it prints its results.
//
// spans (the default): functions of each kind, on two threads.
// hits: calls `hit` COUNT times (default 1,000,000) from each of two threads.
// price: the truth has a call's CPU time in picoseconds, of COUNT calls of `hit`.
// probes: passes by USDT probes COUNT times (default 5).
// forked: `hit` in a child, in a child of vfork, and COUNT times (default 3) in the parent.
// plugin PATH: loads a library, waits until its function's code changes, if it is recorded, calls it
//   three times.
// serve: for each byte on standard input, `hit` is called, and one written back: whether its code is
//   as it was when the program began.
// leave: the same on a second thread. For an 'l' the first one ends (pthread_exit) before that.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>

#include "fixture.h"

/// Whatever the code's size, its last page has room behind it: a recorder that attaches to a static
/// program needs some there.
__asm__(".section .room,\"ax\",@progbits\n.balign 4096\n.byte 0xc3\n.previous\n");

static volatile uint64_t sum;

FUNCTION void compute(uint64_t milliseconds) {
    uint64_t state = 88172645463325252ULL;
    BURN(state, milliseconds * ROUNDS_PER_MS);
}

FUNCTION uint64_t hit(uint64_t value) {
    sum += value;
    return value * 3;
}

FUNCTION void longer(void) {
    compute(30);
    sum += 1;
}
FUNCTION void shorter(void) {
    compute(12);
    sum += 1;
}

/// Comes back by several ways.
FUNCTION int ways(int which) {
    if (which == 0) return 17;
    sum += (uint64_t)which;
    if (which == 1) return which + (int)sum;
    compute(1);
    return which > 2 ? -1 : (int)(sum & 1);
}

/// Calls itself, and is no loop.
FUNCTION uint64_t climb(uint64_t steps) {
    if (steps == 0) return 1;
    uint64_t below = climb(steps - 1);
    compute(2);
    return below * steps + 1;
}

/// Goes on in another function instead of coming back.
FUNCTION uint64_t hand_over(uint64_t value) {
    compute(5);
    return hit(value + 1);
}

/// A leaf that keeps its values below the stack pointer.
FUNCTION uint64_t red_zone(uint64_t value) {
    volatile uint64_t kept[12];
    for (int index = 0; index < 12; index++) kept[index] = value + (uint64_t)index;
    uint64_t result = 0;
    for (int index = 0; index < 12; index++) result = result * 31 + kept[index];
    return result;
}

/// A switch, by a table.
FUNCTION uint64_t choose(uint64_t which, uint64_t value) {
    switch (which) {
    case 0: return value + sum;
    case 1: return value * 7;
    case 2: sum += value; return sum;
    case 3: return value ^ 0x55;
    case 4: return value - sum;
    case 5: compute(1); return 5;
    case 6: return red_zone(value);
    default: return 9;
    }
}

// Flags and registers are arguments here, and must be the same behind each mark: returns the sum of
// carry, its argument, r10, r11 and xmm0's low half.
__asm__(".text\n"
        ".globl peculiar\n"
        ".type peculiar, @function\n"
        "peculiar:\n"
        "  lea (%rdi, %r10), %rax\n"
        "  lea (%rax, %r11), %rax\n"
        "  adc $0, %rax\n"
        "  movq %xmm0, %rdx\n"
        "  lea (%rax, %rdx), %rax\n"
        "  ret\n"
        "  nop\n  nop\n  nop\n  nop\n"
        ".size peculiar, . - peculiar\n"
        // Its first instruction is where its loop begins.
        ".globl looping\n"
        ".type looping, @function\n"
        "looping:\n"
        "  add $1, %rax\n"
        "  sub $1, %rdi\n"
        "  jnz looping\n"
        "  ret\n"
        ".size looping, . - looping\n"
        // Right behind it begins something else.
        ".globl tiny\n"
        ".type tiny, @function\n"
        "tiny:\n"
        "  xor %eax, %eax\n"
        "  ret\n"
        ".size tiny, . - tiny\n"
        ".globl behind_tiny\n"
        ".type behind_tiny, @function\n"
        "behind_tiny:\n"
        "  mov $7, %eax\n"
        "  ret\n"
        ".size behind_tiny, . - behind_tiny\n");

extern int tiny(void), behind_tiny(void);
extern uint64_t peculiar(uint64_t);
extern uint64_t looping(uint64_t);

FUNCTION uint64_t call_peculiar(void) {
    uint64_t result;
    __asm__ volatile("mov $1000, %%edi\n"
                     "mov $200, %%r10d\n"
                     "mov $30, %%r11d\n"
                     "mov $4, %%eax\n"
                     "movq %%rax, %%xmm0\n"
                     "sub $128, %%rsp\n"
                     "stc\n"
                     "call peculiar\n"
                     "lea 128(%%rsp), %%rsp\n"
                     : "=a"(result)
                     :
                     : "rdi", "r10", "r11", "rdx", "xmm0", "cc", "memory");
    return result;
}

#define TIMED(name, body)                                       \
    do {                                                        \
        int64_t timed_start = nanoseconds(CLOCK_MONOTONIC);     \
        body;                                                   \
        truth_set(name, nanoseconds(CLOCK_MONOTONIC) - timed_start); \
    } while (0)

static void *other(void *unused) {
    (void)unused;
    TIMED("shorter", shorter());
    for (int index = 0; index < 50; index++) hit(2);
    return NULL;
}

static void spans(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, NULL) != 0) fail("pthread_create");
    TIMED("longer", longer());
    pthread_join(thread, NULL);
    int total = 0;
    for (int which = 0; which < 6; which++) total += ways(which % 4);
    printf("ways %d\n", total);
    TIMED("climb", printf("climb %llu\n", (unsigned long long)climb(4)));
    TIMED("hand_over", hand_over(5));
    uint64_t chosen = 0;
    for (uint64_t which = 0; which < 8; which++) chosen += choose(which, which + 3);
    printf("choose %llu\n", (unsigned long long)chosen);
    printf("red_zone %llu\n", (unsigned long long)red_zone(5));
    printf("peculiar %llu\n", (unsigned long long)call_peculiar());
    printf("looping %llu\n", (unsigned long long)(looping(10) != 0));
    printf("tiny %d %d\n", tiny(), behind_tiny());
    for (int index = 0; index < 50; index++) hit(1);
    printf("sum %llu\n", (unsigned long long)sum);
}

static void *hit_often(void *count) {
    uint64_t state = 1;
    for (uint64_t left = *(uint64_t *)count; left > 0; left--) state = hit(state);
    return NULL;
}

static void hits(uint64_t count) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, hit_often, &count) != 0) fail("pthread_create");
    hit_often(&count);
    pthread_join(thread, NULL);
    printf("hits\n");
}

static void price(uint64_t count) {
    hit(1);
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t left = count; left > 0; left--) hit(left);
    int64_t took = nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start;
    truth_set("call", (int64_t)((double)took * 1000 / (double)count));
}

// As <sys/sdt.h> writes them; it need not be installed.
#define PROBE(name, semaphore)                                                  \
    __asm__ volatile("990: nop\n"                                               \
                     ".pushsection .note.stapsdt, \"?\", \"note\"\n"            \
                     ".balign 4\n"                                              \
                     ".4byte 992f - 991f, 994f - 993f, 3\n"                     \
                     "991: .asciz \"stapsdt\"\n"                                \
                     "992: .balign 4\n"                                         \
                     "993: .8byte 990b\n"                                       \
                     ".8byte _.stapsdt.base\n"                                  \
                     ".8byte " semaphore "\n"                                   \
                     ".asciz \"marked\"\n"                                      \
                     ".asciz \"" name "\"\n"                                    \
                     ".asciz \"\"\n"                                            \
                     "994: .balign 4\n"                                         \
                     ".popsection\n"                                            \
                     ".ifndef _.stapsdt.base\n"                                 \
                     ".pushsection .stapsdt.base, \"aG\", \"progbits\", "       \
                     ".stapsdt.base, comdat\n"                                  \
                     ".weak _.stapsdt.base\n"                                   \
                     ".hidden _.stapsdt.base\n"                                 \
                     "_.stapsdt.base: .space 1\n"                               \
                     ".size _.stapsdt.base, 1\n"                                \
                     ".popsection\n"                                            \
                     ".endif\n" ::: "memory")

volatile uint16_t guarded_semaphore __attribute__((section(".probes")));

FUNCTION uint64_t step(uint64_t value) {
    uint64_t result = value * value + sum;
    PROBE("plain", "0");
    if (guarded_semaphore != 0) {
        sum += 1;
        PROBE("guarded", "guarded_semaphore");
    }
    return result ^ value;
}

static void probes(uint64_t count) {
    uint64_t before = sum;
    for (uint64_t left = count; left > 0; left--) step(left);
    truth_set("guarded", (int64_t)(sum - before));
    printf("probes\n");
}

#define CHILD(create)                              \
    do {                                           \
        pid_t child = create();                    \
        if (child < 0) fail(#create);              \
        if (child == 0) {                          \
            hit(1);                                \
            _exit(3);                              \
        }                                          \
        int status = 0;                            \
        waitpid(child, &status, 0);                \
        printf("child %d\n", WEXITSTATUS(status)); \
    } while (0)

static void forked(uint64_t count) {
    CHILD(fork);
    CHILD(vfork);
    for (uint64_t left = count; left > 0; left--) hit(left);
}

static void plugin(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) fail(dlerror());
    uint64_t (*work)(uint64_t) = (uint64_t(*)(uint64_t))dlsym(library, "plugin_work");
    if (work == NULL) fail("dlsym");
    // Only if it is recorded.
    const int64_t patience = getenv("FIRSTLIGHT_TRUTH") ? 60000000000 : 0;
    const int64_t end = nanoseconds(CLOCK_MONOTONIC) + patience;
    while (*(volatile const uint8_t *)work != 0xE9 && nanoseconds(CLOCK_MONOTONIC) < end) {}
    for (int index = 0; index < 3; index++) work(1);
    printf("plugin\n");
    dlclose(library);
}

static sem_t leave_now;

/// Returns when only the first thread's name is left.
static void let_first_leave(void) {
    sem_post(&leave_now);
    char text[128] = "";
    while (strstr(text, ") Z") == NULL) {
        FILE *stat = fopen("/proc/self/stat", "r");
        if (stat == NULL || fgets(text, sizeof text, stat) == NULL) fail("stat");
        fclose(stat);
        sched_yield();
    }
}

static void serve(void) {
    uint8_t before[16];
    memcpy(before, (const void *)hit, sizeof before);
    if (write(1, "ready\n", 6) != 6) fail("write");
    char byte;
    while (read(0, &byte, 1) == 1) {
        // A recorder that attaches needs a thread that runs.
        compute(byte == 'w' ? 20 : 0);
        if (byte == 'l') let_first_leave();
        hit(1);
        const char *answer = memcmp(before, (const void *)hit, sizeof before) ? "new\n" : "old\n";
        if (write(1, answer, 4) != 4) fail("write");
    }
}

static void *serve_beside(void *unused) {
    serve();
    return unused;
}

static void leave(void) {
    pthread_t thread;
    sem_init(&leave_now, 0, 0);
    if (pthread_create(&thread, NULL, serve_beside, NULL) != 0) fail("pthread_create");
    while (sem_wait(&leave_now) != 0) {}
    pthread_exit(NULL);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "spans";
    if (strcmp(mode, "spans") == 0) spans();
    else if (strcmp(mode, "hits") == 0) hits(count_argument(argc, argv, 2, 1000000));
    else if (strcmp(mode, "price") == 0) price(count_argument(argc, argv, 2, 1000000));
    else if (strcmp(mode, "probes") == 0) probes(count_argument(argc, argv, 2, 5));
    else if (strcmp(mode, "forked") == 0) forked(count_argument(argc, argv, 2, 3));
    else if (strcmp(mode, "plugin") == 0 && argc > 2) plugin(argv[2]);
    else if (strcmp(mode, "serve") == 0) serve();
    else if (strcmp(mode, "leave") == 0) leave();
    else {
        fprintf(stderr, "marked: no mode %s\n", mode);
        return 125;
    }
    fflush(stdout);
    truth_write();
    return 0;
}
