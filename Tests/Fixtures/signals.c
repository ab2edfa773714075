// signals: handles signals of many kinds on an alternate stack, and prints how many of each came.
// Exits with 0 only if each came exactly as often as it was sent, with the code of its sender, and
// its handler ran on the alternate stack.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "fixture.h"

#define TIMES 10

static char alternate_stack[64 * 1024];
static volatile sig_atomic_t counts[NSIG];
static volatile sig_atomic_t wrong_codes;
static volatile sig_atomic_t wrong_stacks;
/// The `si_code` that the next signal must have.
static volatile sig_atomic_t expected_code;

static void handler(int number, siginfo_t *info, void *context) {
    (void)context;
    char here;
    uintptr_t depth = (uintptr_t)&here - (uintptr_t)alternate_stack;
    if (depth >= sizeof alternate_stack) wrong_stacks++;
    if (info->si_code != expected_code) wrong_codes++;
    counts[number]++;
}

static void install(int number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0) fail("sigaction");
}

/// Sends itself a signal, which is handled before the call returns.
static void send_to_process(int number) {
    expected_code = SI_USER;
    for (int time = 0; time < TIMES; time++) kill(getpid(), number);
}

static void raise_in_thread(int number) {
    expected_code = SI_TKILL;
    for (int time = 0; time < TIMES; time++) raise(number);
}

/// A breakpoint of its own, as a debugger-aware program has it; the handler returns after it.
FUNCTION void hit_breakpoints(void) {
#ifdef __x86_64__
    expected_code = SI_KERNEL;
    for (int time = 0; time < TIMES; time++) __asm__ volatile("int3" ::: "memory");
#else
    raise_in_thread(SIGTRAP);
#endif
}

/// Waits, with `number` unblocked only meanwhile, until it came `TIMES` times; `cause` is called
/// before each.
static void await(int number, void (*cause)(void)) {
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, number);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    for (int time = 0; time < TIMES; time++) {
        cause();
        while (counts[number] <= time) sigsuspend(&before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void start_alarm(void) {
    struct itimerval timer = {{0, 0}, {0, 2000}};
    expected_code = SI_KERNEL;
    if (setitimer(ITIMER_REAL, &timer, NULL) != 0) fail("setitimer");
}

static void end_child(void) {
    expected_code = CLD_EXITED;
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) _exit(0);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    if (status != 0) wrong_codes++;
}

static int check(const char *name, int actual, int expected) {
    printf("%s %d of %d\n", name, actual, expected);
    return actual == expected ? 0 : 1;
}

int main(void) {
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    if (sigaltstack(&stack, NULL) != 0) fail("sigaltstack");
    const int numbers[] = {SIGUSR1, SIGALRM, SIGCHLD, SIGTRAP, SIGURG};
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++)
        install(numbers[index]);

    send_to_process(SIGUSR1);
    send_to_process(SIGURG);
    raise_in_thread(SIGTRAP);
    hit_breakpoints();
    await(SIGALRM, start_alarm);
    await(SIGCHLD, end_child);

    int failures = check("SIGUSR1", counts[SIGUSR1], TIMES);
    failures += check("SIGURG", counts[SIGURG], TIMES);
    failures += check("SIGTRAP", counts[SIGTRAP], 2 * TIMES);
    failures += check("SIGALRM", counts[SIGALRM], TIMES);
    failures += check("SIGCHLD", counts[SIGCHLD], TIMES);
    failures += check("wrong codes", wrong_codes, 0);
    failures += check("wrong stacks", wrong_stacks, 0);
    return failures == 0 ? 0 : 1;
}
