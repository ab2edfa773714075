// dispatched [N]: has the kernel dispatch its system calls by the place where they are made
// (PR_SET_SYSCALL_USER_DISPATCH), as emulators do: only those of the C library are made. N times
// (default 300) it computes, makes a call of its own that SIGSYS answers, and asks the C library
// for its signal mask and for an action. Prints the numbers of answers and correct results.
#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "fixture.h"

enum { SET_DISPATCH = 59, DISPATCH_ON = 1, NO_CALL = 500, ANSWER = 4242 };

static volatile char selector;
static volatile int answered, others;

static void answer(int number, siginfo_t *info, void *context) {
    (void)number;
    char before = selector;
    selector = 0;
    ucontext_t *place = context;
    if (info->si_syscall == NO_CALL) {
        answered++;
        place->uc_mcontext.gregs[REG_RAX] = ANSWER;
    } else {
        others++;
    }
    selector = before;
}

/// The C library's code: from where its sigaction is.
static void find_library(unsigned long *start, unsigned long *end) {
    const unsigned long inside = (unsigned long)dlsym(RTLD_DEFAULT, "sigaction");
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL) fail("maps");
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long low = 0, high = 0;
        if (sscanf(line, "%lx-%lx", &low, &high) == 2 && low <= inside && inside < high)
            *start = low, *end = high;
    }
    fclose(maps);
}

int main(int argc, char **argv) {
    const uint64_t count = count_argument(argc, argv, 1, 300);
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGSYS, &action, NULL);
    unsigned long start = 0, end = 0;
    find_library(&start, &end);
    if (prctl(SET_DISPATCH, DISPATCH_ON, start, end - start, &selector) != 0) {
        printf("no dispatch: %s\n", strerror(errno));
        return 0;
    }
    uint64_t state = 1, good = 0;
    for (uint64_t index = 0; index < count; index++) {
        sigset_t mask;
        struct sigaction now;
        selector = 1;
        BURN(state, ROUNDS_PER_MS / 2);
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "0"((long)NO_CALL) : "rcx", "r11", "memory");
        const int library = sigprocmask(SIG_BLOCK, NULL, &mask) | sigaction(SIGURG, NULL, &now)
            | (prctl(PR_GET_DUMPABLE) != 1);
        selector = 0;
        good += result == ANSWER && library == 0 && now.sa_handler == SIG_DFL;
    }
    printf("answered %d good %llu others %d\n", answered, (unsigned long long)good, others);
    return 7;
}
