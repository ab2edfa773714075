// forked [N]: N children (default 8), two at a time, without exec: each computes for ~30 ms, sets a
// handler for SIGURG whose old action must be the default, sends itself ten, computes on, and
// exits with its number, while the parent computes, too. Then the parent does the same.
// Exits with 0 if every child did as it should and every signal came once.
#include <signal.h>
#include <sys/wait.h>

#include "fixture.h"

#define TIMES 10

static volatile sig_atomic_t received;

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

static void handler(int number) {
    (void)number;
    received++;
}

/// 0 if all is as it should be.
static int use_signal(void) {
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGURG, &action, &old) != 0) fail("sigaction");
    if (old.sa_handler != SIG_DFL) return 101;
    for (int time = 0; time < TIMES; time++) {
        raise(SIGURG);
        volatile uint64_t result = compute(1, 1);
        (void)result;
    }
    return received == TIMES ? 0 : 102;
}

static pid_t start_child(int number) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return child;
    uint64_t checksum = compute((uint64_t)number + 1, 30);
    int status = use_signal();
    checksum = compute(checksum, 10);
    // The checksum decides, so that the compiler cannot leave the work out.
    _exit(status != 0 ? status : checksum == 0 ? 103 : number);
}

static int await(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv) {
    int count = (int)count_argument(argc, argv, 1, 8), wrong = 0;
    uint64_t checksum = 1;
    for (int number = 0; number < count; number += 2) {
        pid_t first = start_child(number), second = start_child(number + 1);
        checksum = compute(checksum, 30);
        int statuses[] = {await(first), await(second)};
        for (int index = 0; index < 2; index++) {
            printf("child %d: %d\n", number + index, statuses[index]);
            if (statuses[index] != number + index) wrong++;
        }
        // Text that is not written yet would be written again by the next children.
        fflush(stdout);
    }
    printf("parent: %d\n", use_signal());
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return wrong == 0 && received == TIMES ? 0 : 1;
}
