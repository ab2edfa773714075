// sharer: computes until standard input ends, and so does a process that shares its memory (clone
// with CLONE_VM) and sets its signal mask all the time.
// Prints "ready", and how the other one ended. Exits with 0 if that was well.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"

static atomic_int is_over;

static int set_masks(void *unused) {
    (void)unused;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    while (!is_over) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
    }
    return 0;
}

int main(void) {
    static _Alignas(16) char stack[1 << 16];
    const pid_t other = clone(set_masks, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL);
    if (other < 0) fail("clone");
    puts("ready");
    fflush(stdout);
    uint64_t state = 1;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 0) == 0) BURN(state, ROUNDS_PER_MS);
    is_over = 1;
    int status;
    if (waitpid(other, &status, 0) != other) fail("waitpid");
    printf("other %d\n", status);
    return status == 0 ? 0 : 1;
}
