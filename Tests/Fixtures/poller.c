// poller: waits in epoll_wait for its input, computes ~200 ms for each byte of it, prints `done`, and
// waits again. Prints `ready` when it begins, and exits with status 3 at the end of its input.
#include <sys/epoll.h>

#include "fixture.h"

int main(void) {
    const int events = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (events < 0 || epoll_ctl(events, EPOLL_CTL_ADD, 0, &event) != 0) fail("epoll");
    puts("ready");
    fflush(stdout);
    uint64_t state = 1;
    for (;;) {
        if (epoll_wait(events, &event, 1, -1) != 1) fail("epoll_wait");
        char byte;
        if (read(0, &byte, 1) != 1) return 3;
        BURN(state, 200 * ROUNDS_PER_MS);
        puts("done");
        fflush(stdout);
    }
}
