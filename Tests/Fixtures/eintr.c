// eintr [ROUNDS [MILLISECONDS [WORK]]]: blocks in one system call after another, ROUNDS times each
// (default 5), for MILLISECONDS (default 20), and prints for each how many calls ended early
// with EINTR. With WORK each call is made by a thread of its own that first computes for WORK
// milliseconds. Exits with 0 however many they were, with 1 if a call ended in another wrong way.
//
// Without signals and stops every count is 0. See signal(7), "Interruption of system calls and
// library functions by stop signals", for the calls that a tracer's stop ends.
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "fixture.h"

static int milliseconds;
static int failures;
static int quiet_pipe[2];
static int request_pipe[2], answer_pipe[2];
static int epoll;
static int semaphores;

/// Each blocks once and returns 0 for its regular end, else the errno.
static int try_nanosleep(void) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return nanosleep(&time, NULL) == 0 ? 0 : errno;
}

static int try_poll(void) {
    struct pollfd wanted = {.fd = quiet_pipe[0], .events = POLLIN};
    return poll(&wanted, 1, milliseconds) == 0 ? 0 : errno;
}

static int try_epoll_wait(void) {
    struct epoll_event event;
    return epoll_wait(epoll, &event, 1, milliseconds) == 0 ? 0 : errno;
}

static int try_select(void) {
    struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000L};
    fd_set wanted;
    FD_ZERO(&wanted);
    FD_SET(quiet_pipe[0], &wanted);
    return select(quiet_pipe[0] + 1, &wanted, NULL, NULL, &time) == 0 ? 0 : errno;
}

static int try_semtimedop(void) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    struct sembuf take = {.sem_num = 0, .sem_op = -1, .sem_flg = 0};
    if (semtimedop(semaphores, &take, 1, &time) == 0) return EPROTO;
    return errno == EAGAIN ? 0 : errno;
}

static int try_futex(void) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    uint32_t word = 0;
    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0) == 0) return EPROTO;
    return errno == ETIMEDOUT ? 0 : errno;
}

static int try_read(void) {
    char byte = 1;
    if (write(request_pipe[1], &byte, 1) != 1) return errno;
    if (read(answer_pipe[0], &byte, 1) == 1) return 0;
    int reason = errno;
    // The answer still comes, and must not be taken for the next round's.
    while (read(answer_pipe[0], &byte, 1) < 0 && errno == EINTR) continue;
    return reason;
}

/// Answers each request for a byte after the time to block.
static void *answer_requests(void *unused) {
    (void)unused;
    char byte;
    for (;;) {
        ssize_t length = read(request_pipe[0], &byte, 1);
        if (length < 0 && errno == EINTR) continue;
        if (length != 1) return NULL;
        struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
        if (write(answer_pipe[1], &byte, 1) != 1) return NULL;
    }
}

/// A thread of its own that works before it waits.
struct worker {
    int (*attempt)(void);
    uint64_t work;
    uint64_t checksum;
    int reason;
};

static void *work_and_try(void *argument) {
    struct worker *worker = argument;
    uint64_t state = 1;
    BURN(state, worker->work * ROUNDS_PER_MS);
    worker->checksum = state;
    worker->reason = worker->attempt();
    return NULL;
}

static int try_after(uint64_t work, int (*attempt)(void)) {
    if (work == 0) return attempt();
    struct worker worker = {.attempt = attempt, .work = work};
    pthread_t thread;
    errno = pthread_create(&thread, NULL, work_and_try, &worker);
    if (errno != 0) fail("pthread_create");
    pthread_join(thread, NULL);
    return worker.reason;
}

static void repeat(const char *name, int (*attempt)(void), uint64_t rounds, uint64_t work) {
    int interrupted = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        int reason = try_after(work, attempt);
        if (reason == EINTR) interrupted++;
        if (reason != 0 && reason != EINTR) {
            fprintf(stderr, "%s: %s\n", name, strerror(reason));
            failures++;
        }
    }
    printf("%s %d\n", name, interrupted);
}

int main(int argc, char **argv) {
    uint64_t rounds = count_argument(argc, argv, 1, 5);
    milliseconds = (int)count_argument(argc, argv, 2, 20);
    uint64_t work = count_argument(argc, argv, 3, 0);
    if (pipe(quiet_pipe) != 0 || pipe(request_pipe) != 0 || pipe(answer_pipe) != 0) fail("pipe");
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail("epoll_create1");
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    if (semaphores < 0) fail("semget");
    pthread_t thread;
    errno = pthread_create(&thread, NULL, answer_requests, NULL);
    if (errno != 0) fail("pthread_create");

    repeat("nanosleep", try_nanosleep, rounds, work);
    repeat("poll", try_poll, rounds, work);
    repeat("epoll_wait", try_epoll_wait, rounds, work);
    repeat("select", try_select, rounds, work);
    repeat("semtimedop", try_semtimedop, rounds, work);
    repeat("futex", try_futex, rounds, work);
    repeat("read", try_read, rounds, work);

    close(request_pipe[1]);
    pthread_join(thread, NULL);
    semctl(semaphores, 0, IPC_RMID);
    return failures == 0 ? 0 : 1;
}
