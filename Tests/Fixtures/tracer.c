// tracer [N]: traces a child of its own (PTRACE_TRACEME): N single steps (default 200) with work
// between them, a look at its memory, a signal to it, and its exit with status 5.
// Exits with 0 if every stop was the one that it should be.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "fixture.h"

static volatile long marker = 0x5eed;

FUNCTION uint64_t compute(uint64_t state, uint64_t microseconds) {
    BURN(state, microseconds * ROUNDS_PER_MS / 1000);
    return state;
}

static void child_main(void) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(120);
    raise(SIGSTOP);
    uint64_t result = compute(1, 20000);
    raise(SIGUSR1);
    _exit(result == 0 ? 121 : 5);
}

/// Waits for the child's next stop; what stopped it, or -1 if it ended.
static int await_stop(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    return WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
}

static void expect(const char *what, int actual, int expected) {
    printf("%s: %d\n", what, actual);
    if (actual != expected) exit(1);
}

int main(int argc, char **argv) {
    uint64_t steps = count_argument(argc, argv, 1, 200), checksum = 1;
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) child_main();
    expect("start", await_stop(child), SIGSTOP);
    int traps = 0;
    for (uint64_t step = 0; step < steps; step++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) fail("PTRACE_SINGLESTEP");
        checksum = compute(checksum, 500);
        if (await_stop(child) == SIGTRAP) traps++;
    }
    expect("steps", traps, (int)steps);
    errno = 0;
    long peeked = ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)&marker, NULL);
    if (errno != 0) fail("PTRACE_PEEKDATA");
    expect("peeked", (int)peeked, (int)marker);
    if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) fail("PTRACE_CONT");
    expect("signal", await_stop(child), SIGUSR1);
    if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) fail("PTRACE_CONT");
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    expect("status", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 5);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return 0;
}
