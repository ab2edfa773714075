// blocking KIND [CALLS [MICROSECONDS]]: CALLS times (default 1500) computes for about MICROSECONDS
// (default 50), then blocks for about a millisecond in one system call: nanosleep, poll,
// epoll_wait, select, semtimedop or futex until its timeout, read until another thread writes, or
// accept until another process connects.
// blocking stay [MILLISECONDS]: one thread for each kind stays blocked while the main thread
// computes for about MILLISECONDS (default 600); prints how many of their calls ended with EINTR.
// Truth: calls, interrupted (those that ended with EINTR), asleep (nanoseconds in the calls).
// Exits with 0 unless a call ended in a way that is neither its regular end nor EINTR.
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "fixture.h"

#define MILLISECOND 1000000LL

/// Nothing is ever written to it; closing the writing end ends the calls that wait for it.
static int quiet_pipe[2];
/// The descriptor that `read` waits for.
static int input;
static int epoll;
static int semaphores = -1;
static int listener;
static struct sockaddr_un listener_address;
static socklen_t listener_length = sizeof listener_address;
static int silent_sockets[2];
/// 0 until the end.
static atomic_uint futex_word;
static atomic_int failures;

static struct timespec timespec_of(int64_t time) {
    return (struct timespec){time / 1000000000, time % 1000000000};
}

// Each blocks once, for `time` nanoseconds at most where there is such a limit, and returns 0 for
// its regular end (the timeout or the event), else the errno.

static int block_in_nanosleep(int64_t time) {
    struct timespec limit = timespec_of(time);
    return nanosleep(&limit, NULL) == 0 ? 0 : errno;
}

static int block_in_poll(int64_t time) {
    struct pollfd wanted = {.fd = quiet_pipe[0], .events = POLLIN};
    return poll(&wanted, 1, (int)(time / MILLISECOND)) >= 0 ? 0 : errno;
}

static int block_in_epoll_wait(int64_t time) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, (int)(time / MILLISECOND)) >= 0 ? 0 : errno;
}

static int block_in_select(int64_t time) {
    struct timeval limit = {time / 1000000000, time % 1000000000 / 1000};
    fd_set wanted;
    FD_ZERO(&wanted);
    FD_SET(quiet_pipe[0], &wanted);
    return select(quiet_pipe[0] + 1, &wanted, NULL, NULL, &limit) >= 0 ? 0 : errno;
}

static int block_in_semtimedop(int64_t time) {
    struct timespec limit = timespec_of(time);
    struct sembuf take = {.sem_num = 0, .sem_op = -1, .sem_flg = 0};
    if (semtimedop(semaphores, &take, 1, &limit) == 0) return 0;
    return errno == EAGAIN ? 0 : errno;
}

static int block_in_futex(int64_t time) {
    struct timespec limit = timespec_of(time);
    if (syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) == 0) return 0;
    // EAGAIN: the end was there before the call.
    return errno == ETIMEDOUT || errno == EAGAIN ? 0 : errno;
}

static int block_in_read(int64_t time) {
    (void)time;
    char byte;
    return read(input, &byte, 1) >= 0 ? 0 : errno;
}

static int block_in_accept(int64_t time) {
    (void)time;
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return errno;
    close(connection);
    return 0;
}

/// A call with a socket's timeout is one that the kernel never restarts.
static int block_in_recv(int64_t time) {
    (void)time;
    char byte;
    return recv(silent_sockets[0], &byte, 1, 0) >= 0 ? 0 : errno;
}

struct kind {
    const char *name;
    int (*block)(int64_t time);
    /// Waits for another thread's or process's action, which is still to come after EINTR.
    int has_peer;
};

static const struct kind kinds[] = {
    {"nanosleep", block_in_nanosleep, 0},   {"poll", block_in_poll, 0},
    {"epoll_wait", block_in_epoll_wait, 0}, {"select", block_in_select, 0},
    {"semtimedop", block_in_semtimedop, 0}, {"futex", block_in_futex, 0},
    {"read", block_in_read, 1},             {"accept", block_in_accept, 1},
    {"recv", block_in_recv, 1},
};
#define KINDS (sizeof kinds / sizeof *kinds)

// MARK: The events that they wait for

static void listen_somewhere(void) {
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    listener_address.sun_family = AF_UNIX;
    // Without a name: the kernel finds an abstract one.
    struct sockaddr *address = (struct sockaddr *)&listener_address;
    if (listener < 0 || bind(listener, address, sizeof(sa_family_t)) != 0 ||
        getsockname(listener, address, &listener_length) != 0 || listen(listener, 16) != 0)
        fail("listening");
}

static void connect_once(void) {
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) fail("socket");
    struct sockaddr *address = (struct sockaddr *)&listener_address;
    while (connect(connection, address, listener_length) != 0) {
        if (errno != EINTR) fail("connect");
    }
    close(connection);
}

static void prepare(void) {
    struct epoll_event event = {.events = EPOLLIN};
    if (pipe2(quiet_pipe, O_CLOEXEC) != 0) fail("pipe2");
    input = quiet_pipe[0];
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, quiet_pipe[0], &event) != 0) fail("epoll");
    listen_somewhere();
    struct timeval minute = {60, 0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, silent_sockets) != 0 ||
        setsockopt(silent_sockets[0], SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute) != 0)
        fail("socketpair");
}

/// Apart from the rest, because it outlives a process that is killed.
static void make_semaphores(void) {
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    if (semaphores < 0) fail("semget");
}

static uint64_t compute(uint64_t state, uint64_t microseconds) {
    BURN(state, microseconds * ROUNDS_PER_MS / 1000);
    return state;
}

// MARK: One kind, many times

static int request_pipe[2], answer_pipe[2];

static void sleep_fully(int64_t time) {
    struct timespec left = timespec_of(time);
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/// Answers each request a millisecond later.
static void answer_requests(void (*answer)(void)) {
    char byte;
    for (;;) {
        ssize_t length = read(request_pipe[0], &byte, 1);
        if (length < 0 && errno == EINTR) continue;
        if (length != 1) return;
        sleep_fully(MILLISECOND);
        answer();
    }
}

static void write_answer(void) {
    if (write(answer_pipe[1], "", 1) != 1) fail("write");
}

static void *writer_main(void *unused) {
    (void)unused;
    answer_requests(write_answer);
    return NULL;
}

static pid_t start_client(void) {
    pid_t client = fork();
    if (client < 0) fail("fork");
    if (client > 0) return client;
    close(request_pipe[1]);
    answer_requests(connect_once);
    _exit(0);
}

static int run_calls(const struct kind *kind, uint64_t calls, uint64_t microseconds) {
    uint64_t checksum = 1, interrupted = 0;
    int64_t asleep = 0;
    for (uint64_t call = 0; call < calls; call++) {
        checksum = compute(checksum, microseconds);
        if (kind->has_peer && write(request_pipe[1], "", 1) != 1) fail("write");
        int reason;
        int64_t start = nanoseconds(CLOCK_MONOTONIC);
        do {
            reason = kind->block(MILLISECOND);
            if (reason == EINTR) interrupted++;
        } while (reason == EINTR && kind->has_peer);
        asleep += nanoseconds(CLOCK_MONOTONIC) - start;
        if (reason != 0 && reason != EINTR) {
            fprintf(stderr, "%s: %s\n", kind->name, strerror(reason));
            return 1;
        }
    }
    truth_set("calls", (int64_t)calls);
    truth_set("interrupted", (int64_t)interrupted);
    truth_set("asleep", asleep);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return 0;
}

static int run_kind(const struct kind *kind, uint64_t calls, uint64_t microseconds) {
    if (pipe2(request_pipe, O_CLOEXEC) != 0 || pipe2(answer_pipe, O_CLOEXEC) != 0) fail("pipe2");
    input = answer_pipe[0];
    pid_t client = kind->block == block_in_accept ? start_client() : 0;
    pthread_t writer;
    if (kind->block == block_in_read) {
        errno = pthread_create(&writer, NULL, writer_main, NULL);
        if (errno != 0) fail("pthread_create");
    }
    int status = run_calls(kind, calls, microseconds);
    close(request_pipe[1]);
    if (kind->block == block_in_read) pthread_join(writer, NULL);
    while (client > 0 && waitpid(client, NULL, 0) < 0 && errno == EINTR) continue;
    return status;
}

// MARK: All kinds, blocked all the time

struct sleeper {
    pthread_t thread;
    const struct kind *kind;
    int64_t time;
    atomic_int tid;  // set when nothing is left to do but to block
    atomic_uint interruptions;
};

static void *sleeper_main(void *argument) {
    struct sleeper *sleeper = argument;
    int reason;
    atomic_store(&sleeper->tid, (int)syscall(SYS_gettid));
    do {
        reason = sleeper->kind->block(sleeper->time);
        if (reason == EINTR) atomic_fetch_add(&sleeper->interruptions, 1);
    } while (reason == EINTR);
    if (reason != 0) {
        fprintf(stderr, "%s: %s\n", sleeper->kind->name, strerror(reason));
        atomic_fetch_add(&failures, 1);
    }
    return NULL;
}

/// Whether the thread is blocked, as /proc shows it.
static int is_blocked(struct sleeper *sleeper) {
    int tid = atomic_load(&sleeper->tid);
    if (tid == 0) return 0;
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) fail(path);
    text[length] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && state[1] == ' ' && state[2] == 'S';
}

static void wake_all(void) {
    close(quiet_pipe[1]);
    close(silent_sockets[1]);
    struct sembuf give = {.sem_num = 0, .sem_op = 1, .sem_flg = 0};
    if (semop(semaphores, &give, 1) != 0) fail("semop");
    atomic_store(&futex_word, 1);
    syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    connect_once();
}

/// Only calls that were already asleep count: they have nothing to do with any other thread.
static int run_stay(uint64_t milliseconds) {
    static struct sleeper sleepers[KINDS];
    for (size_t index = 0; index < KINDS; index++) {
        struct sleeper *sleeper = &sleepers[index];
        sleeper->kind = &kinds[index];
        int is_nanosleep = sleeper->kind->block == block_in_nanosleep;
        // nanosleep has no event that ends it.
        sleeper->time = is_nanosleep ? (int64_t)milliseconds * MILLISECOND : 60000 * MILLISECOND;
        errno = pthread_create(&sleeper->thread, NULL, sleeper_main, sleeper);
        if (errno != 0) fail("pthread_create");
    }
    for (size_t index = 0; index < KINDS; index++) {
        while (!is_blocked(&sleepers[index])) continue;
        atomic_store(&sleepers[index].interruptions, 0);
    }
    uint64_t checksum = compute(1, milliseconds * 1000);
    unsigned counts[KINDS];
    for (size_t index = 0; index < KINDS; index++)
        counts[index] = atomic_load(&sleepers[index].interruptions);
    wake_all();
    for (size_t index = 0; index < KINDS; index++) {
        pthread_join(sleepers[index].thread, NULL);
        printf("%s %u\n", sleepers[index].kind->name, counts[index]);
    }
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return atomic_load(&failures) == 0 ? 0 : 1;
}

static const struct kind *kind_named(const char *name) {
    for (size_t index = 0; index < KINDS; index++) {
        if (strcmp(kinds[index].name, name) == 0) return &kinds[index];
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    const struct kind *kind = kind_named(mode);
    if (strcmp(mode, "stay") != 0 && (kind == NULL || kind->block == block_in_recv)) {
        fprintf(stderr, "usage: blocking KIND [CALLS [MICROSECONDS]] | stay [MILLISECONDS]\n");
        return 125;
    }
    prepare();
    if (kind == NULL || kind->block == block_in_semtimedop) make_semaphores();
    int status;
    if (kind == NULL)
        status = run_stay(count_argument(argc, argv, 2, 600));
    else
        status = run_kind(
            kind, count_argument(argc, argv, 2, 1500), count_argument(argc, argv, 3, 50));
    if (semaphores >= 0) semctl(semaphores, 0, IPC_RMID);
    truth_write();
    return status;
}
