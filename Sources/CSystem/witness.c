#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"
#include "Witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Blocked signals stay pending, ignored or not, until they are read.
static void __attribute__((noreturn)) become_witness(int control) {
    const struct timespec none = {0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    // All our other descriptors belong to the recorder.
    dup2(control, 3);
    fl_close_from(4);
    for (int number = 0; number < 3; number++) close(number);
    (void)!chdir("/");
    prctl(PR_SET_NAME, "firstlight-grp");
    while (1) {
        char byte;
        const ssize_t count = recv(3, &byte, 1, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) _exit(0);
        uint64_t signals = 0;
        int number;
        while ((number = sigtimedwait(&all, NULL, &none)) > 0)
            signals |= (uint64_t)1 << (number - 1);
        (void)!send(3, &signals, sizeof signals, MSG_NOSIGNAL);
    }
}

// MARK: The recorder's side

// Away from the standard streams, which may be closed, and from the witness's numbers.
static int moved(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
    close(descriptor);
    return copy;
}

int fl_witness_start(int *control) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return -errno;
    for (int side = 0; side < 2; side++) sockets[side] = moved(sockets[side]);
    const pid_t child = sockets[0] < 0 || sockets[1] < 0 ? -1 : fork();
    if (child == 0) {
        // The intermediate process ends at once: no code that waits for children notices it.
        const pid_t witness = fork();
        if (witness == 0) become_witness(sockets[1]);
        _exit(witness < 0);
    }
    int status = 0;
    const int is_there =
        child > 0 && fl_wait(child, 0, &status) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0;
    if (sockets[1] >= 0) close(sockets[1]);
    if (is_there) {
        *control = sockets[0];
        return 0;
    }
    if (sockets[0] >= 0) close(sockets[0]);
    return -EAGAIN;
}

int fl_witness_ask(int control, uint64_t *signals) {
    // The kernel signals a group's processes one after another; meanwhile no process may change a
    // group. This call changes nothing, but it returns only when such a signal is complete.
    (void)setpgid(0, getpgrp());
    if (send(control, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) return -errno;
    struct pollfd entry = {.fd = control, .events = POLLIN};
    int count;
    do count = poll(&entry, 1, 1000);
    while (count < 0 && errno == EINTR);
    if (count <= 0) return -ETIMEDOUT;
    return recv(control, signals, sizeof *signals, MSG_DONTWAIT) == sizeof *signals ? 0 : -EPIPE;
}
