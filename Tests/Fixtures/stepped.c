// stepped: handles SIGTRAP since a constructor, and single-steps itself (the trap flag) for a while
// in the constructor, in main and in a child. Prints how many steps and breakpoints were seen, and
// in how many of those places its handler was its own. `stepped int3`: dies of a breakpoint.
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"

static volatile sig_atomic_t steps, breakpoints, kept;
static volatile sig_atomic_t is_stepping;

static void on_trap(int number) {
    (void)number;
    if (is_stepping)
        steps++;
    else
        breakpoints++;
}

static void set_handler(void) {
    struct sigaction action = {.sa_handler = on_trap};
    if (sigaction(SIGTRAP, &action, NULL) != 0) fail("sigaction");
}

static void check_handler(void) {
    struct sigaction action;
    if (sigaction(SIGTRAP, NULL, &action) != 0) fail("sigaction");
    kept += action.sa_handler == on_trap;
}

/// The flag traps behind each instruction until it is taken back.
static void step(void) {
    is_stepping = 1;
#ifdef __x86_64__
    uint64_t count = 200;
    __asm__ volatile(
        "sub $128, %%rsp\n"
        "pushfq\n"
        "orq $0x100, (%%rsp)\n"
        "popfq\n"
        "1: dec %[count]\n"
        "jnz 1b\n"
        "pushfq\n"
        "andq $~0x100, (%%rsp)\n"
        "popfq\n"
        "add $128, %%rsp\n"
        : [count] "+r"(count)::"memory", "cc");
#endif
    is_stepping = 0;
    __asm__ volatile("int3");
}

__attribute__((constructor)) static void begin(void) {
    set_handler();
    check_handler();
    step();
}

int main(int argc, char **argv) {
    check_handler();
    if (argc > 1 && strcmp(argv[1], "int3") == 0) {
        if (signal(SIGTRAP, SIG_DFL) == SIG_ERR) fail("signal");
        __asm__ volatile("int3");
        return 1;
    }
    for (int round = 0; round < 10; round++) step();
    int status = 0;
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        const int before = kept;
        check_handler();
        step();
        _exit(kept > before ? 0 : 1);
    }
    if (waitpid(child, &status, 0) != child) fail("waitpid");
    printf("steps %d breakpoints %d kept %d child %d\n", (int)steps, (int)breakpoints, (int)kept,
           status);
    return 0;
}
