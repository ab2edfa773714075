// adjuster: computes, and sets signals' actions and its mask again and again, until its input ends.
// Writes "ready" when it has begun, and "done" at its end.
#include <poll.h>
#include <signal.h>

#include "fixture.h"

static void ignore(int number) { (void)number; }

int main(void) {
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) fail("write");
    uint64_t state = 1;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&input, 1, 0) == 0) {
        BURN(state, ROUNDS_PER_MS);
        struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
        sigset_t set, before;
        sigfillset(&set);
        if (sigaction(SIGUSR1, &action, NULL) != 0) fail("sigaction");
        if (sigprocmask(SIG_SETMASK, &set, &before) != 0) fail("sigprocmask");
        if (sigprocmask(SIG_SETMASK, &before, NULL) != 0) fail("sigprocmask");
    }
    printf("done%s\n", state == 0 ? "!" : "");
    return 0;
}
