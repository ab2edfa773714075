// sleeper [T]: T threads (default 8) that work and wait until stdin ends, for attaching to. The
// first two pass a token to and fro through pipes, each computing ~100 us for it; the others block
// in read, epoll_wait and futex, in turn. Prints `ready` when all threads are up, and at the end
// how many calls of each kind ended with EINTR, and the checksum of the computing.
// Exits with 0 if no call ever returned anything unexpected, EINTR included, and every computation
// came to the same result; else with 1.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "fixture.h"

enum kind { KIND_STDIN, KIND_READ, KIND_WRITE, KIND_EPOLL, KIND_FUTEX, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = {"stdin", "read", "write", "epoll_wait", "futex"};

struct worker {
    pthread_t thread;
    void (*run)(struct worker *);
    int input, output;
};

static atomic_uint interruptions[KIND_COUNT];
static atomic_uint failures;
static atomic_uint stopping;
static atomic_ullong rounds;
static uint64_t expected;
static pthread_barrier_t all_up;

FUNCTION uint64_t compute(uint64_t state) {
    BURN(state, ROUNDS_PER_MS / 10);
    return state;
}

/// Counts a call that returned -1; 0 if it is worth repeating.
static int count_error(enum kind kind) {
    if (errno == EINTR) {
        atomic_fetch_add(&interruptions[kind], 1);
        return 0;
    }
    fprintf(stderr, "sleeper: %s: %s\n", kind_names[kind], strerror(errno));
    atomic_fetch_add(&failures, 1);
    return -1;
}

/// Reads one byte; 0 at the end of the file, -1 for an error.
static ssize_t read_byte(int descriptor, enum kind kind) {
    char byte;
    for (;;) {
        ssize_t length = read(descriptor, &byte, 1);
        if (length >= 0) return length;
        if (count_error(kind) != 0) return -1;
    }
}

static void write_byte(int descriptor) {
    while (write(descriptor, "", 1) < 0) {
        if (count_error(KIND_WRITE) != 0) return;
    }
}

/// A worker that sees the end passes the token on before leaving, so that the other sees it too.
static void pass_token(struct worker *worker) {
    while (read_byte(worker->input, KIND_READ) == 1) {
        int last = atomic_load(&stopping) != 0;
        if (!last && compute(1) != expected) atomic_fetch_add(&failures, 1);
        atomic_fetch_add(&rounds, 1);
        write_byte(worker->output);
        if (last) return;
    }
}

static void block_in_read(struct worker *worker) {
    if (read_byte(worker->input, KIND_READ) != 1) atomic_fetch_add(&failures, 1);
}

static void block_in_epoll(struct worker *worker) {
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, worker->input, &event) != 0) fail("epoll");
    int count;
    do count = epoll_wait(epoll, &event, 1, -1);
    while (count < 0 && count_error(KIND_EPOLL) == 0);
    if (count != 1) atomic_fetch_add(&failures, 1);
    close(epoll);
}

static void block_in_futex(struct worker *worker) {
    (void)worker;
    while (atomic_load(&stopping) == 0) {
        long result = syscall(SYS_futex, &stopping, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
        // EAGAIN: the word changed before the call.
        if (result != 0 && errno != EAGAIN && count_error(KIND_FUTEX) != 0) return;
    }
}

static void *thread_main(void *argument) {
    struct worker *worker = argument;
    pthread_barrier_wait(&all_up);
    worker->run(worker);
    return NULL;
}

static void make_pipe(int *input, int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
    *input = ends[0];
    *output = ends[1];
}

/// Worker 0 writes to worker 1's input, and the other way about; the token starts with 0.
static void pair_up(struct worker *first, struct worker *second) {
    first->run = pass_token;
    second->run = pass_token;
    make_pipe(&first->input, &second->output);
    make_pipe(&second->input, &first->output);
    write_byte(second->output);
}

static void start(struct worker *workers, uint64_t count) {
    static void (*const blockers[])(struct worker *) = {
        block_in_read, block_in_epoll, block_in_futex};
    uint64_t first = 0;
    if (count >= 2) {
        pair_up(&workers[0], &workers[1]);
        first = 2;
    }
    for (uint64_t index = first; index < count; index++) {
        workers[index].run = blockers[index % 3];
        make_pipe(&workers[index].input, &workers[index].output);
    }
    for (uint64_t index = 0; index < count; index++) {
        errno = pthread_create(&workers[index].thread, NULL, thread_main, &workers[index]);
        if (errno != 0) fail("pthread_create");
    }
}

static void stop(struct worker *workers, uint64_t count) {
    atomic_store(&stopping, 1);
    syscall(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    for (uint64_t index = count >= 2 ? 2 : 0; index < count; index++)
        write_byte(workers[index].output);
    for (uint64_t index = 0; index < count; index++) pthread_join(workers[index].thread, NULL);
}

static int report(void) {
    unsigned wrong = atomic_load(&failures);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        unsigned count = atomic_load(&interruptions[kind]);
        printf("EINTR %s %u\n", kind_names[kind], count);
        wrong += count;
    }
    printf("failures %u rounds %llu\n", atomic_load(&failures), atomic_load(&rounds));
    printf("checksum %016llx\n", (unsigned long long)expected);
    return wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    uint64_t count = count_argument(argc, argv, 1, 8);
    if (count < 1 || count > 1000) {
        fprintf(stderr, "sleeper: 1 to 1000 threads\n");
        return 125;
    }
    expected = compute(1);
    struct worker *workers = calloc(count, sizeof *workers);
    if (workers == NULL) fail("calloc");
    pthread_barrier_init(&all_up, NULL, (unsigned)count + 1);
    start(workers, count);
    pthread_barrier_wait(&all_up);
    printf("ready\n");
    fflush(stdout);
    while (read_byte(STDIN_FILENO, KIND_STDIN) > 0) continue;
    stop(workers, count);
    free(workers);
    return report();
}
