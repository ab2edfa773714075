// calls N NAME: makes a system call again and again, N times for 50 ms, and computes in between, while
// another thread computes, too. Prints how often the call returned less than it should, was interrupted,
// ended early, failed, or brought wrong data. calls: prints the names.
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pty.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "calls.h"

enum { PAGE = 4 * KIB, MUCH = 64 * KIB, MEGA = MIB, LARGE = 8 * MIB };

// Pipes.

static void put(ssize_t size) { failed += write(in, data, (size_t)size) != size; }

/// Takes out of the pipe what a call has put in, or has left there.
static ssize_t taken(ssize_t result, ssize_t size) {
    const int error = errno;
    for (ssize_t got = 1; size > 0 && got > 0; size -= got) got = read(out, space, (size_t)size);
    errno = error;
    return result;
}

/// Writes what a call that was cut short has left: the data show whether anything else was lost.
static ssize_t completed(int end, ssize_t result) {
    const int error = errno;
    for (ssize_t place = result < 0 ? 0 : result, got; place < MEGA; place += got < 0 ? 0 : got)
        got = write(end, data + place, (size_t)(MEGA - place));
    errno = error;
    return result;
}

static void pipes(void) {
    int ends[4];
    if (pipe(ends) != 0 || pipe(ends + 2) != 0) fail("pipe");
    out = ends[0], in = ends[1], next_out = ends[2], next_in = ends[3];
}

static void fed_pipe(ssize_t size) { pipes(), begin_feed(&in, size, 0.7); }
static void fed_pipes(void) { fed_pipe(PAGE), begin(drain, &next_out); }
static void checked_pipe(void) { pipes(), begin(check, &out); }
static void full_pipe(void) { pipes(), put(MUCH), drain_size = PAGE, drain_pause = 0.7, begin(drain, &out); }

static void call_pipes(void) {
    CALL("read/pipe", pipes(), MUCH, (put(MUCH), read(out, space, MUCH)))
    CALL("readv/pipe", pipes(), MUCH, (put(MUCH), readv(out, parts(space, MUCH), 4)))
    CALL("read/pipe,waits", fed_pipe(PAGE), PAGE, read(out, space, PAGE))
    CALL("readv/pipe,waits", fed_pipe(PAGE), PAGE, readv(out, parts(space, PAGE), 4))
    CALL("write/pipe,1M", checked_pipe(), MEGA, completed(in, write(in, data, MEGA)))
    CALL("writev/pipe,1M", checked_pipe(), MEGA, completed(in, writev(in, parts(data, MEGA), 4)))
    CALL("pwritev2/pipe,1M", checked_pipe(), MEGA, completed(in, pwritev2(in, parts(data, MEGA), 4, -1, 0)))
    CALL("write/pipe,full", full_pipe(), PAGE, write(in, data, PAGE))
    CALL("vmsplice", pipes(), MUCH, taken(vmsplice(in, part(data, MUCH), 1, 0), MUCH))
    CALL("vmsplice,full", full_pipe(), PAGE, vmsplice(in, part(data, PAGE), 1, 0))
    CALL("tee,waits", fed_pipes(), PAGE, taken(tee(out, next_in, PAGE, 0), PAGE))
    CALL("splice/pipe-pipe,waits", fed_pipes(), PAGE, splice(out, NULL, next_in, NULL, PAGE, 0))
}

// Files.

/// Without a name: in memory, or on the disk where the program was started.
static int file(int is_on_disk) {
    const int file = is_on_disk ? open(".", O_TMPFILE | O_RDWR, 0600) : memfd_create("file", 0);
    if (file < 0 || pwrite(file, data, LARGE, 0) != LARGE) fail("file");
    return file;
}

static void files(int is_on_disk) { from = file(is_on_disk), to = file(is_on_disk); }

static int rewound(int file) {
    failed += lseek(file, 0, SEEK_SET) != 0;
    return file;
}

static int emptied(int file) {
    failed += ftruncate(file, 0) != 0;
    return rewound(file);
}

static ssize_t copied(ssize_t size) {
    const int error = errno;
    if (size > 0)
        wrong += pread(to, space, (size_t)size, 0) != size || memcmp(space, data, (size_t)size) != 0;
    errno = error;
    return size;
}

#define FILE_CALL(NAME, WANTED, CODE)             \
    CALL(NAME "/memory", files(0), WANTED, CODE) \
    CALL(NAME "/disk", files(1), WANTED, CODE)

static void call_files(void) {
    FILE_CALL("read", LARGE, read(rewound(from), space, LARGE))
    FILE_CALL("readv", LARGE, readv(rewound(from), parts(space, LARGE), 4))
    FILE_CALL("pread", LARGE, pread(from, space, LARGE, 0))
    FILE_CALL("preadv", LARGE, preadv(from, parts(space, LARGE), 4, 0))
    FILE_CALL("preadv2", LARGE, preadv2(from, parts(space, LARGE), 4, 0, 0))
    FILE_CALL("write", LARGE, write(rewound(from), data, LARGE))
    FILE_CALL("writev", LARGE, writev(rewound(from), parts(data, LARGE), 4))
    FILE_CALL("pwrite", LARGE, pwrite(from, data, LARGE, 0))
    FILE_CALL("pwritev", LARGE, pwritev(from, parts(data, LARGE), 4, 0))
    FILE_CALL("pwritev2", LARGE, pwritev2(from, parts(data, LARGE), 4, 0, 0))
    FILE_CALL("append", LARGE, write(emptied(from), data, LARGE))
    FILE_CALL("fallocate", 0, fallocate(emptied(from), 0, 0, 2 * LARGE))
    FILE_CALL("copy_file_range", LARGE,
              copied(copy_file_range(from, &(off_t){0}, emptied(to), NULL, LARGE, 0)))
    CALL("copy_file_range/syscall", files(0), LARGE,
         copied(syscall(SYS_copy_file_range, from, &(off_t){0}, emptied(to), NULL, LARGE, 0)))
    FILE_CALL("sendfile", LARGE, copied(sendfile(emptied(to), from, &(off_t){0}, LARGE)))
    CALL("sendfile/pipe", (files(0), pipes()), MUCH, taken(sendfile(in, from, &(off_t){0}, MUCH), MUCH))
    CALL("sendfile/pipe,full", (files(0), full_pipe()), PAGE, sendfile(in, from, &(off_t){0}, PAGE))
    CALL("splice/file-pipe", (files(0), pipes()), MUCH,
         taken(splice(from, &(off_t){0}, in, NULL, MUCH, 0), MUCH))
    CALL("splice/pipe-file", (files(0), pipes()), MUCH,
         (put(MUCH), splice(out, NULL, to, &(off_t){0}, MUCH, 0)))
    CALL("splice/pipe,full", (files(0), full_pipe()), PAGE, splice(from, &(off_t){0}, in, NULL, PAGE, 0))
}

// Sockets.

static void pair(int type) {
    int ends[2];
    if (socketpair(AF_UNIX, type, 0, ends) != 0) fail("socketpair");
    ours = ends[0], theirs = ends[1];
}

static void fed_pair(int type) { pair(type), begin_feed(&theirs, PAGE, 0.7); }
static void flooded_pair(void) { pair(SOCK_STREAM), begin_feed(&theirs, 4 * MUCH, 0); }
static void checked_pair(void) { pair(SOCK_STREAM), begin(check, &theirs); }
static void drained_pair(int type) { pair(type), begin(drain, &theirs); }

static void full_pair(void) {
    pair(SOCK_STREAM);
    while (send(ours, data, PAGE, MSG_DONTWAIT) > 0) continue;
}

/// The system chooses the port.
static struct sockaddr_in address = {.sin_family = AF_INET};
static socklen_t address_size = sizeof address;

static void listening(void) {
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ours = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(ours, (struct sockaddr *)&address, address_size) != 0 || listen(ours, 1) != 0 ||
        getsockname(ours, (struct sockaddr *)&address, &address_size) != 0)
        fail("listen");
}

static void tcp(void) {
    listening();
    theirs = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(theirs, (struct sockaddr *)&address, address_size) != 0) fail("connect");
    ours = accept(ours, NULL, NULL);
}

static void checked_tcp(void) { tcp(), begin(check, &theirs); }
static void flooded_tcp(void) { tcp(), begin_feed(&theirs, 4 * MUCH, 0); }

/// Our socket, which waits for a while only: four times as long, for the kernel counts in jiffies.
static int patient(int option) {
    milliseconds *= 4;
    const struct timeval time = {0, milliseconds * 1000};
    setsockopt(ours, SOL_SOCKET, option, &time, sizeof time);
    return ours;
}

static void call_sockets(void) {
    CALL("write/stream,1M", checked_pair(), MEGA, completed(ours, write(ours, data, MEGA)))
    CALL("writev/stream,1M", checked_pair(), MEGA, completed(ours, writev(ours, parts(data, MEGA), 4)))
    CALL("send/stream,1M", checked_pair(), MEGA, completed(ours, send(ours, data, MEGA, 0)))
    CALL("sendmsg/stream,1M", checked_pair(), MEGA, completed(ours, sendmsg(ours, message(data, MEGA), 0)))
    CALL("sendfile/stream,1M", (files(0), checked_pair()), MEGA,
         completed(ours, sendfile(ours, from, &(off_t){0}, MEGA)))
    CALL("read/stream,waits", fed_pair(SOCK_STREAM), PAGE, read(ours, space, PAGE))
    CALL("recv/stream,waitall", flooded_pair(), MEGA, recv(ours, space, MEGA, MSG_WAITALL))
    CALL("recvmsg/stream,waitall", flooded_pair(), MEGA, recvmsg(ours, message(space, MEGA), MSG_WAITALL))
    CALL("write/tcp,1M", checked_tcp(), MEGA, completed(ours, write(ours, data, MEGA)))
    CALL("sendmsg/tcp,1M", checked_tcp(), MEGA, completed(ours, sendmsg(ours, message(data, MEGA), 0)))
    CALL("sendfile/tcp,1M", (files(0), checked_tcp()), MEGA,
         completed(ours, sendfile(ours, from, &(off_t){0}, MEGA)))
    CALL("recv/tcp,waitall", flooded_tcp(), MEGA, recv(ours, space, MEGA, MSG_WAITALL))
    CALL("write/dgram", drained_pair(SOCK_DGRAM), 4 * PAGE, write(ours, data, 4 * PAGE))
    CALL("recv/dgram", fed_pair(SOCK_DGRAM), PAGE, recv(ours, space, MUCH, 0))
    CALL("recvmsg/dgram", fed_pair(SOCK_DGRAM), PAGE, recvmsg(ours, message(space, MUCH), 0))
    CALL("sendmmsg/dgram", drained_pair(SOCK_DGRAM), 16, sendmmsg(ours, messages(data, 16), 16, 0))
    CALL("recvmmsg/dgram", fed_pair(SOCK_DGRAM), 8, recvmmsg(ours, messages(space, 8), 8, 0, NULL))
    CALL("write/seqpacket", drained_pair(SOCK_SEQPACKET), 4 * PAGE, write(ours, data, 4 * PAGE))
    CALL("recv/seqpacket", fed_pair(SOCK_SEQPACKET), PAGE, recv(ours, space, MUCH, 0))
    WAIT("recv/time-out", pair(SOCK_STREAM), -1, EAGAIN, recv(patient(SO_RCVTIMEO), space, 100, 0))
    WAIT("send/time-out", full_pair(), -1, EAGAIN, send(patient(SO_SNDTIMEO), data, PAGE, 0))
    WAIT("recvmmsg/time-out", pair(SOCK_DGRAM), -1, EAGAIN,
         recvmmsg(patient(SO_RCVTIMEO), messages(space, 8), 8, 0, NULL))
    WAIT("accept/time-out", listening(), -1, EAGAIN, accept(patient(SO_RCVTIMEO), NULL, NULL))
}

// Terminals and devices.

static void terminal(void) {
    struct termios raw = {0};
    cfmakeraw(&raw);
    if (openpty(&ours, &theirs, NULL, &raw, NULL) != 0) fail("openpty");
}

static void device(const char *path) {
    from = open(path, O_RDWR);
    if (from < 0) fail(path);
}

static void call_devices(void) {
    CALL("write/tty", (terminal(), begin(drain, &ours)), 4 * PAGE, write(theirs, data, 4 * PAGE))
    CALL("writev/tty", (terminal(), begin(drain, &ours)), 4 * PAGE, writev(theirs, parts(data, 4 * PAGE), 4))
    CALL("write/ptmx", (terminal(), begin(drain, &theirs)), PAGE / 2, write(ours, data, PAGE / 2))
    CALL("read/zero", device("/dev/zero"), LARGE, read(from, space, LARGE))
    CALL("readv/zero", device("/dev/zero"), LARGE, readv(from, parts(space, LARGE), 4))
    CALL("pread/zero", device("/dev/zero"), LARGE, pread(from, space, LARGE, 0))
    CALL("read/full", device("/dev/full"), LARGE, read(from, space, LARGE))
    CALL("read/urandom", device("/dev/urandom"), MEGA, read(from, space, MEGA))
    CALL("readv/urandom", device("/dev/urandom"), MEGA, readv(from, parts(space, MEGA), 4))
    CALL("write/null", device("/dev/null"), LARGE, write(from, data, LARGE))
    CALL("getrandom", , MEGA, getrandom(space, MEGA, 0))
    CALL("getrandom/syscall", , MEGA, syscall(SYS_getrandom, space, MEGA, 0))
}

// Waits for time.

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int word;

static void post(void) { sem_post(&semaphore); }

static void call_waits(void) {
    struct futex_waitv several = {0, (uintptr_t)&word, FUTEX_32, 0};
    WAIT("futex", , -1, ETIMEDOUT, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0))
    WAIT("futex/shared", , -1, ETIMEDOUT, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &limit, NULL, 0))
    WAIT("futex/bitset", , -1, ETIMEDOUT,
         syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &deadline, NULL, ~0))
    WAIT("futex_waitv", , -1, ETIMEDOUT,
         syscall(SYS_futex_waitv, &several, 1, 0, &deadline, CLOCK_MONOTONIC))
    WAIT("pthread_cond_clockwait", pthread_mutex_lock(&mutex), -1, ETIMEDOUT,
         result_of(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &deadline)))
    WAIT("pthread_mutex_clocklock", pthread_mutex_lock(&mutex), -1, ETIMEDOUT,
         result_of(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &deadline)))
    WAIT("sem_clockwait", , -1, ETIMEDOUT, sem_clockwait(&semaphore, CLOCK_MONOTONIC, &deadline))
    CALL("sem_wait", begin(repeat, post), 0, sem_wait(&semaphore))
    WAIT("nanosleep", , 0, 0, nanosleep(&limit, NULL))
    WAIT("clock_nanosleep", , 0, 0, result_of(clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL)))
    WAIT("clock_nanosleep/until", , 0, 0,
         result_of(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL)))
}

// Waits for descriptors.

static sigset_t all, none, one;
static fd_set set;
static struct pollfd polled = {.events = POLLIN};
static struct epoll_event event = {.events = EPOLLIN};

/// A pipe to wait for, to which something is written now and then, or nothing.
static void polling(int is_fed) {
    is_fed ? fed_pipe(1) : pipes();
    polled.fd = out;
    ours = epoll_create1(0);
    if (epoll_ctl(ours, EPOLL_CTL_ADD, out, &event) != 0) fail("epoll_ctl");
}

static fd_set *selected(void) {
    FD_ZERO(&set);
    FD_SET(out, &set);
    return &set;
}

static void call_polls(void) {
    WAIT("poll", polling(0), 0, 0, poll(&polled, 1, milliseconds))
    WAIT("ppoll", polling(0), 0, 0, ppoll(&polled, 1, &limit, NULL))
    WAIT("ppoll/blocked", polling(0), 0, 0, ppoll(&polled, 1, &limit, &all))
    WAIT("ppoll/unblocked", polling(0), 0, 0, ppoll(&polled, 1, &limit, &none))
    WAIT("pselect", polling(0), 0, 0, pselect(out + 1, selected(), NULL, NULL, &limit, &none))
    WAIT("epoll_wait", polling(0), 0, 0, epoll_wait(ours, &event, 1, milliseconds))
    WAIT("epoll_pwait", polling(0), 0, 0, epoll_pwait(ours, &event, 1, milliseconds, &none))
    WAIT("epoll_pwait2", polling(0), 0, 0, epoll_pwait2(ours, &event, 1, &limit, NULL))
    CALL("poll/fed", polling(1), 1, taken(poll(&polled, 1, -1), 1))
    CALL("select/fed", polling(1), 1, taken(select(out + 1, selected(), NULL, NULL, NULL), 1))
    CALL("epoll_wait/fed", polling(1), 1, taken(epoll_wait(ours, &event, 1, -1), 1))
}

// Waits for signals, timers and events.

static pthread_t main_thread;

static void block(const sigset_t *signals) { pthread_sigmask(SIG_BLOCK, signals, NULL); }
static void send_signal(void) { pthread_kill(main_thread, SIGUSR2); }

static void signalled(const sigset_t *signals) {
    block(signals);
    ours = signalfd(-1, signals, 0);
    begin(repeat, send_signal);
}

static ssize_t read_signal(void) {
    struct signalfd_siginfo info = {0};
    const ssize_t size = read(ours, &info, sizeof info);
    return size == sizeof info ? (ssize_t)info.ssi_signo : size;
}

static ssize_t read_timer(void) {
    timerfd_settime(ours, 0, &(struct itimerspec){.it_value = limit}, NULL);
    return read(ours, space, 8);
}

static void call_signals(void) {
    WAIT("sigtimedwait", block(&one), -1, EAGAIN, sigtimedwait(&one, NULL, &limit))
    WAIT("sigtimedwait/all", block(&all), -1, EAGAIN, sigtimedwait(&all, NULL, &limit))
    CALL("sigwaitinfo/all", signalled(&all), SIGUSR2, sigwaitinfo(&all, NULL))
    CALL("read/signalfd", signalled(&one), SIGUSR2, read_signal())
    CALL("read/signalfd,all", signalled(&all), SIGUSR2, read_signal())
    CALL("read/eventfd", (ours = eventfd(0, 0), begin_feed(&ours, 8, 0.7)), 8, read(ours, space, 8))
    WAIT("read/timerfd", ours = timerfd_create(CLOCK_MONOTONIC, 0), 8, 0, read_timer())
}

// Queues and semaphores of System V, which are there until they are removed.

static int queue, numbers;

static void send_letter(void) { msgsnd(queue, &(struct msgbuf){.mtype = 1}, 1, 0); }
static int add(short number) { return semop(numbers, &(struct sembuf){0, number, 0}, 1); }
static void add_one(void) { add(1); }

static void call_queues(void) {
    queue = msgget(IPC_PRIVATE, 0600), numbers = semget(IPC_PRIVATE, 1, 0600);
    CALL("msgrcv", begin(repeat, send_letter), 1, msgrcv(queue, space, 1, 0, 0))
    CALL("semop", begin(repeat, add_one), 0, add(-1))
    WAIT("semtimedop", , -1, EAGAIN, semtimedop(numbers, &(struct sembuf){0, -1, 0}, 1, &limit))
    msgctl(queue, IPC_RMID, NULL), semctl(numbers, 0, IPC_RMID);
}

// io_uring.

static struct io_uring_sqe *entries;
static struct io_uring_cqe *completions;
static _Atomic unsigned *submitted, *finished, *reaped;
static unsigned *indices;

static void ring(void) {
    struct io_uring_params how = {0};
    files(0), fed_pipe(PAGE);
    ours = (int)syscall(SYS_io_uring_setup, 16, &how);
    if (ours < 0) fail("io_uring_setup");
    char *ring = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ours, IORING_OFF_SQ_RING);
    entries = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ours, IORING_OFF_SQES);
    if (ring == MAP_FAILED || entries == MAP_FAILED) fail("mmap");
    submitted = (void *)(ring + how.sq_off.tail), indices = (void *)(ring + how.sq_off.array);
    reaped = (void *)(ring + how.cq_off.head), finished = (void *)(ring + how.cq_off.tail);
    completions = (void *)(ring + how.cq_off.cqes);
}

/// Submits one entry and waits for its completion, in one call.
static int await(struct io_uring_sqe entry) {
    const unsigned index = *submitted % 16;
    entries[index] = entry, indices[index] = index;
    ++*submitted;
    const long count = syscall(SYS_io_uring_enter, ours, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    interrupted += count < 0 && errno == EINTR;
    early += *finished == *reaped;
    while (*finished == *reaped) syscall(SYS_io_uring_enter, ours, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    const int result = completions[*reaped % 32].res;
    ++*reaped;
    errno = -result;
    return result;
}

static int await_timeout(void) {
    struct __kernel_timespec time = {.tv_nsec = milliseconds * NS_PER_MS};
    return await((struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .addr = (uintptr_t)&time, .len = 1});
}

static int await_read(int file, unsigned size, uint64_t offset) {
    return await((struct io_uring_sqe){
        .opcode = IORING_OP_READ, .fd = file, .addr = (uintptr_t)space, .len = size, .off = offset});
}

static void call_rings(void) {
    WAIT("io_uring/timeout", ring(), -ETIME, ETIME, await_timeout())
    CALL("io_uring/read", ring(), LARGE, await_read(from, LARGE, 0))
    CALL("io_uring/pipe", ring(), PAGE, await_read(out, PAGE, (uint64_t)-1))
}

static void call_chosen(void) {
    call_pipes(), call_files(), call_sockets(), call_devices(), call_waits(), call_polls();
    call_signals(), call_queues(), call_rings();
}

static void compute_always(void) {
    for (;;) compute(1);
}

static char *map(void) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    char *area = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (area == MAP_FAILED) fail("mmap");
    return area;
}

int main(int argc, char **argv) {
    if (argc < 3) return call_chosen(), 0;
    times = count_argument(argc, argv, 1, 1), chosen = argv[2];
    data = map(), space = map();
    for (uint64_t place = 0; place < LARGE / 8; place++) ((uint64_t *)data)[place] = place;
    sigfillset(&all), sigemptyset(&one), sigaddset(&one, SIGUSR2);
    main_thread = pthread_self();
    begin(repeat, compute_always);
    call_chosen();
    printf("short %d interrupted %d early %d failed %d wrong %d\n", shorts, interrupted, early, failed,
           wrong);
    fflush(stdout);
    _exit(7);
}
