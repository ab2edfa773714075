// lender: a thread computes, and the main thread waits in vfork for a process that has its memory,
// until standard input ends. Prints `ready` before, and `over` at the end. Exits with 3.
#include <pthread.h>

#include "fixture.h"

__attribute__((noreturn)) static void *compute_for_ever(void *unused) {
    (void)unused;
    for (;;) {
        uint64_t state = 1;
        BURN(state, ROUNDS_PER_MS);
    }
}

static void say(const char *what) {
    if (write(STDOUT_FILENO, what, strlen(what)) < 0) _exit(125);
}

int main(void) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, compute_for_ever, NULL);
    if (errno != 0) fail("pthread_create");
    const pid_t child = vfork();
    if (child < 0) fail("vfork");
    if (child == 0) {
        char byte;
        say("ready\n");
        while (read(STDIN_FILENO, &byte, 1) > 0) {}
        _exit(0);
    }
    say("over\n");
    _exit(3);
}
