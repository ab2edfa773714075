// ready HOW [ARG]: computes for some 50 ms, becomes ready, and waits for SIGTERM, which ends it with
// status 3. HOW is
//   notify [other|daemon]  READY=1 to NOTIFY_SOCKET, after another message; `other`: sent by a
//                   child; `daemon`: by a child's child whose parent has gone, in a session of its own
//   barrier         READY=1, then waits until BARRIER=1's descriptor is closed, as sd_notify_barrier
//   tcp PORT, tcp6 PORT, unix PATH   listens; PORT 0: one that the kernel chooses
//   swap PORT       listens on a socket that takes the descriptor of a file it closes just then
//   output TEXT, error TEXT   prints a line, computes, prints `TEXT now` there; and no more
//   idle            does nothing any more
//   never           goes on computing
// Truth: ready_at, the moment of CLOCK_MONOTONIC just before; barrier (1: passed).
#include "fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static uint64_t state = 1;

FUNCTION void prepare(void) { BURN(state, 50 * ROUNDS_PER_MS); }

static void ready_now(void) { truth_set("ready_at", nanoseconds(CLOCK_MONOTONIC)); }

static void notify(const char *text, int descriptor) {
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (name == NULL || strlen(name) >= sizeof address.sun_path) fail("NOTIFY_SOCKET");
    memcpy(address.sun_path, name, strlen(name));
    if (name[0] == '@') address.sun_path[0] = '\0';
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {(void *)text, strlen(text)};
    struct msghdr message = {
        .msg_name = &address,
        .msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)),
        .msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    }
    int socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || sendmsg(socket_, &message, 0) < 0) fail("notify");
    close(socket_);
}

static void notify_from_child(void) {
    pid_t child = fork();
    if (child == 0) {
        notify("READY=1", -1);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) fail("fork");
}

// It stays as long as the program: the origin of a message cannot be found once its sender is gone.
static void notify_from_daemon(void) {
    const pid_t program = getpid();
    pid_t child = fork();
    if (child == 0) {
        const pid_t parent = getpid();
        if (fork() != 0) _exit(0);
        setsid();
        while (getppid() == parent) sched_yield();
        notify("READY=1", -1);
        while (kill(program, 0) == 0) usleep(10000);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) fail("fork");
}

static void barrier(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    notify("BARRIER=1", ends[1]);
    close(ends[1]);
    // Hung up once the receiver has closed its copy.
    struct pollfd entry = {.fd = ends[0], .events = 0};
    if (poll(&entry, 1, 20000) == 1) truth_set("barrier", 1);
}

static void listen_at(const char *how, const char *where, int in_place_of) {
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(where)),
                              .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_in6 tcp6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(where)),
                                .sin6_addr = in6addr_loopback};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    strncpy(local.sun_path, where, sizeof local.sun_path - 1);
    struct sockaddr *address = (struct sockaddr *)&tcp;
    socklen_t length = sizeof tcp;
    if (strcmp(how, "tcp6") == 0) (address = (struct sockaddr *)&tcp6, length = sizeof tcp6);
    if (strcmp(how, "unix") == 0) (address = (struct sockaddr *)&local, length = sizeof local);
    if (in_place_of >= 0) close(in_place_of);
    int socket_ = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || bind(socket_, address, length) != 0) fail("bind");
    if (in_place_of < 0) prepare();
    ready_now();
    if (listen(socket_, 8) != 0) fail("listen");
}

static void print(int descriptor, const char *text) {
    dprintf(descriptor, "starting\n");
    prepare();
    char line[256];
    const int length = snprintf(line, sizeof line, "%s now\n", text);
    ready_now();
    if (write(descriptor, line, (size_t)length) != length) fail("write");
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    const char *argument = argc > 2 ? argv[2] : "";
    // Not before the truth is written.
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    prepare();
    if (strcmp(how, "notify") == 0) {
        notify("STATUS=computing\nREADY=0", -1);
        prepare();
        ready_now();
        if (strcmp(argument, "other") == 0) notify_from_child();
        else if (strcmp(argument, "daemon") == 0) notify_from_daemon();
        else notify("READY=1\nSTATUS=ready", -1);
    } else if (strcmp(how, "barrier") == 0) {
        ready_now();
        notify("READY=1", -1);
        barrier();
    } else if (strcmp(how, "tcp") == 0 || strcmp(how, "tcp6") == 0 || strcmp(how, "unix") == 0) {
        listen_at(how, argument, -1);
    } else if (strcmp(how, "swap") == 0) {
        int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
        prepare();
        listen_at(how, argument, file);
    } else if (strcmp(how, "output") == 0 || strcmp(how, "error") == 0) {
        print(how[0] == 'o' ? STDOUT_FILENO : STDERR_FILENO, argument);
    } else if (strcmp(how, "idle") == 0) {
        ready_now();
    } else if (strcmp(how, "never") == 0) {
        truth_write();
        sigprocmask(SIG_UNBLOCK, &end, NULL);
        while (1) prepare();
    }
    truth_write();
    int number;
    sigwait(&end, &number);
    return 3;
}
