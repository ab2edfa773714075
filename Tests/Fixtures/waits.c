// waits [KIND...]: one wait of each kind after the other (default: all), on the main thread, and
// the truth about how long each took, from its own clock reads just around the call.
//
// The awaited event comes about 120 ms after the wait began: another thread (or process) learns
// through a pipe that the wait begins, and sleeps before it acts.
//
//   mutex       held by the thread "holder"; truth mutex, and holder: that thread's id
//   rwlock      held by the same for writing
//   semaphore   posted by the thread "poster"
//   condition   signalled by the same
//   join        of a thread that sleeps
//   pipe        read from a slow writer
//   fifo        the same with a named pipe
//   file        after posix_fadvise(DONTNEED); takes no time where the page cache is the host's
//   connect     to a server on the loopback that accepts nothing until later
//   receive     from that server, once connected; truth port: its port
//   accept      of a connection that comes late
//   unix        receive on a connected socket of the Unix domain
//   nanosleep   for 120 ms
//   poll        of two pipes and a socket
//   epoll       of a pipe and a socket
//   select      of a pipe
//   child       waitpid of `sleeper 120`, which is this program under another name; truth child: its
//               id
//   any         the same, of any child
//   flock       of a file that another process has locked
//   lease       open of a file that another process has a lease of, until that gives it up
//   signal      sigwaitinfo of a signal that another thread sends
//   stopped     by SIGSTOP, until another process sends SIGCONT
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "fixture.h"

extern char **environ;

enum { LENGTH_MS = 120 };

pthread_mutex_t slow_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t slow_rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t slow_condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_signalled;
sem_t slow_semaphore;

static char folder[] = "/tmp/waits-XXXXXX";
static char path[64];

static void pause_for(int milliseconds) {
    struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    while (nanosleep(&length, &length) != 0) {
    }
}

// A thread that acts later: a byte announces that the wait is about to begin.

struct helper {
    void (*prepare)(void);
    void (*act)(void);
    const char *name;
    int begin[2];
    int ready[2];
    pthread_t thread;
};

static void make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
}

static void tell(int descriptor) {
    if (write(descriptor, "x", 1) != 1) fail("write");
}

static void hear(int descriptor) {
    char byte;
    if (read(descriptor, &byte, 1) != 1) fail("read");
}

static void *help(void *argument) {
    struct helper *helper = argument;
    prctl(PR_SET_NAME, helper->name);
    if (helper->prepare != NULL) helper->prepare();
    tell(helper->ready[1]);
    hear(helper->begin[0]);
    pause_for(LENGTH_MS);
    helper->act();
    return NULL;
}

/// Returns when the helper has prepared.
static void begin(struct helper *helper) {
    make_pipe(helper->begin);
    make_pipe(helper->ready);
    if (pthread_create(&helper->thread, NULL, help, helper) != 0) fail("pthread_create");
    hear(helper->ready[0]);
}

static void finish(struct helper *helper) {
    pthread_join(helper->thread, NULL);
    for (int end = 0; end < 2; end++) {
        close(helper->begin[end]);
        close(helper->ready[end]);
    }
}

static int64_t started;

/// The truth is the time between these two.
static void start_clock(void) { started = nanoseconds(CLOCK_MONOTONIC); }
static void stop_clock(const char *name) {
    truth_set(name, nanoseconds(CLOCK_MONOTONIC) - started);
}

#define WAIT_FOR(helper, name, wait) \
    do {                             \
        begin(helper);               \
        tell((helper)->begin[1]);    \
        start_clock();               \
        wait;                        \
        stop_clock(name);            \
        finish(helper);              \
    } while (0)

// Locks and conditions

static void lock_mutex(void) {
    truth_set("holder", gettid());
    pthread_mutex_lock(&slow_mutex);
}
static void unlock_mutex(void) { pthread_mutex_unlock(&slow_mutex); }

FUNCTION void wait_in_mutex(void) {
    struct helper helper = {.prepare = lock_mutex, .act = unlock_mutex, .name = "holder"};
    WAIT_FOR(&helper, "mutex", pthread_mutex_lock(&slow_mutex));
    pthread_mutex_unlock(&slow_mutex);
}

static void lock_rwlock(void) { pthread_rwlock_wrlock(&slow_rwlock); }
static void unlock_rwlock(void) { pthread_rwlock_unlock(&slow_rwlock); }

FUNCTION void wait_in_rwlock(void) {
    struct helper helper = {.prepare = lock_rwlock, .act = unlock_rwlock, .name = "holder"};
    WAIT_FOR(&helper, "rwlock", pthread_rwlock_rdlock(&slow_rwlock));
    pthread_rwlock_unlock(&slow_rwlock);
}

static void post(void) { sem_post(&slow_semaphore); }

FUNCTION void wait_in_semaphore(void) {
    struct helper helper = {.act = post, .name = "poster"};
    sem_init(&slow_semaphore, 0, 0);
    WAIT_FOR(&helper, "semaphore", while (sem_wait(&slow_semaphore) != 0));
}

static void signal_condition(void) {
    pthread_mutex_lock(&condition_mutex);
    is_signalled = 1;
    pthread_cond_signal(&slow_condition);
    pthread_mutex_unlock(&condition_mutex);
}

FUNCTION void wait_in_condition(void) {
    struct helper helper = {.act = signal_condition, .name = "poster"};
    pthread_mutex_lock(&condition_mutex);
    WAIT_FOR(&helper, "condition",
             while (!is_signalled) pthread_cond_wait(&slow_condition, &condition_mutex));
    pthread_mutex_unlock(&condition_mutex);
}

static void nothing(void) {}

FUNCTION void wait_in_join(void) {
    struct helper helper = {.act = nothing, .name = "sleepy"};
    begin(&helper);
    tell(helper.begin[1]);
    start_clock();
    pthread_join(helper.thread, NULL);
    stop_clock("join");
    for (int end = 0; end < 2; end++) {
        close(helper.begin[end]);
        close(helper.ready[end]);
    }
}

// Descriptors

static int slow[2];

static void write_slowly(void) { tell(slow[1]); }

FUNCTION void wait_in_pipe(void) {
    struct helper helper = {.act = write_slowly, .name = "writer"};
    make_pipe(slow);
    WAIT_FOR(&helper, "pipe", hear(slow[0]));
}

FUNCTION void wait_in_fifo(void) {
    struct helper helper = {.act = write_slowly, .name = "writer"};
    snprintf(path, sizeof path, "%s/fifo", folder);
    if (mkfifo(path, 0600) != 0) fail("mkfifo");
    // Both ends at once, as opening one would wait for the other.
    slow[0] = slow[1] = open(path, O_RDWR | O_CLOEXEC);
    if (slow[0] < 0) fail(path);
    WAIT_FOR(&helper, "fifo", hear(slow[0]));
    close(slow[0]);
    unlink(path);
}

/// A size that takes some time to read.
enum { FILE_MIB = 64 };

FUNCTION void wait_in_file(void) {
    static char block[1 << 20];
    snprintf(path, sizeof path, "%s/cold", folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) fail(path);
    for (int mib = 0; mib < FILE_MIB; mib++) {
        memset(block, mib, sizeof block);
        if (write(file, block, sizeof block) != sizeof block) fail("write");
    }
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    start_clock();
    for (int mib = 0; mib < FILE_MIB; mib++) {
        if (pread(file, block, sizeof block, (off_t)mib << 20) != sizeof block) fail("pread");
    }
    stop_clock("file");
    close(file);
    unlink(path);
}

static int server, client;
static struct sockaddr_in server_address;

static void listen_on_loopback(int backlog) {
    socklen_t length = sizeof server_address;
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server_address = (struct sockaddr_in){.sin_family = AF_INET};
    server_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(server, (struct sockaddr *)&server_address, sizeof server_address) != 0) fail("bind");
    if (listen(server, backlog) != 0) fail("listen");
    getsockname(server, (struct sockaddr *)&server_address, &length);
    truth_set("port", ntohs(server_address.sin_port));
}

static int new_socket(void) {
    int result = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (result < 0) fail("socket");
    return result;
}

static void connect_to_server(int end) {
    if (connect(end, (struct sockaddr *)&server_address, sizeof server_address) != 0)
        fail("connect");
}

static void accept_some(void) {
    for (int turn = 0; turn < 2; turn++) accept4(server, NULL, NULL, SOCK_CLOEXEC);
}

/// The queue has room for one: another client waits until that one was accepted, and then for the
/// rest of the second after which its connection is tried again.
FUNCTION void wait_in_connect(void) {
    struct helper helper = {.act = accept_some, .name = "server"};
    listen_on_loopback(0);
    int first = new_socket();
    connect_to_server(first);
    client = new_socket();
    WAIT_FOR(&helper, "connect", connect_to_server(client));
    close(client);
    close(first);
    close(server);
}

static int accepted;

static void send_slowly(void) { tell(accepted); }

FUNCTION void wait_in_receive(void) {
    struct helper helper = {.act = send_slowly, .name = "server"};
    char byte;
    listen_on_loopback(8);
    client = new_socket();
    connect_to_server(client);
    accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    WAIT_FOR(&helper, "receive", if (recv(client, &byte, 1, 0) != 1) fail("recv"));
    close(client);
    close(accepted);
    close(server);
}

static void connect_slowly(void) { connect_to_server(client); }

FUNCTION void wait_in_accept(void) {
    struct helper helper = {.act = connect_slowly, .name = "client"};
    listen_on_loopback(8);
    client = new_socket();
    WAIT_FOR(&helper, "accept", accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC));
    close(client);
    close(accepted);
    close(server);
}

FUNCTION void wait_in_unix(void) {
    struct helper helper = {.act = send_slowly, .name = "server"};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char byte;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
    if (listen(server, 1) != 0) fail("listen");
    if (connect(client, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    WAIT_FOR(&helper, "unix", if (recv(client, &byte, 1, 0) != 1) fail("recv"));
    close(client);
    close(accepted);
    close(server);
    unlink(address.sun_path);
}

// Time

FUNCTION void wait_in_nanosleep(void) {
    start_clock();
    pause_for(LENGTH_MS);
    stop_clock("nanosleep");
}

// Several descriptors

FUNCTION void wait_in_poll(void) {
    struct helper helper = {.act = write_slowly, .name = "writer"};
    int quiet[2], sockets[2];
    make_pipe(slow);
    make_pipe(quiet);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
    struct pollfd wanted[] = {
        {slow[0], POLLIN, 0}, {quiet[0], POLLIN, 0}, {sockets[0], POLLIN, 0}};
    WAIT_FOR(&helper, "poll", poll(wanted, 3, 5000));
    for (int end = 0; end < 2; end++) {
        close(slow[end]);
        close(quiet[end]);
        close(sockets[end]);
    }
}

FUNCTION void wait_in_epoll(void) {
    struct helper helper = {.act = write_slowly, .name = "writer"};
    int sockets[2];
    make_pipe(slow);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) fail("socketpair");
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, slow[0], &event);
    epoll_ctl(epoll, EPOLL_CTL_ADD, sockets[0], &event);
    WAIT_FOR(&helper, "epoll", epoll_wait(epoll, &event, 1, 5000));
    close(epoll);
    for (int end = 0; end < 2; end++) {
        close(slow[end]);
        close(sockets[end]);
    }
}

FUNCTION void wait_in_select(void) {
    struct helper helper = {.act = write_slowly, .name = "writer"};
    fd_set wanted;
    make_pipe(slow);
    FD_ZERO(&wanted);
    FD_SET(slow[0], &wanted);
    WAIT_FOR(&helper, "select", select(slow[0] + 1, &wanted, NULL, NULL, NULL));
    for (int end = 0; end < 2; end++) close(slow[end]);
}

// Processes

static pid_t spawn_sleeper(void) {
    char *arguments[] = {"sleeper", "120", NULL};
    pid_t child;
    if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0)
        fail("posix_spawn");
    return child;
}

FUNCTION void wait_in_child(void) {
    pid_t child = spawn_sleeper();
    truth_set("child_id", child);
    start_clock();
    waitpid(child, NULL, 0);
    stop_clock("child");
}

FUNCTION void wait_in_any(void) {
    spawn_sleeper();
    start_clock();
    wait(NULL);
    stop_clock("any");
}

FUNCTION void wait_in_flock(void) {
    int ready[2], begin[2];
    snprintf(path, sizeof path, "%s/locked", folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    make_pipe(ready);
    make_pipe(begin);
    pid_t child = fork();
    if (child == 0) {
        int own = open(path, O_RDWR | O_CLOEXEC);
        flock(own, LOCK_EX);
        tell(ready[1]);
        hear(begin[0]);
        pause_for(LENGTH_MS);
        _exit(0);
    }
    hear(ready[0]);
    tell(begin[1]);
    start_clock();
    flock(file, LOCK_EX);
    stop_clock("flock");
    waitpid(child, NULL, 0);
    close(file);
    unlink(path);
}

/// A signal announces that the lease ends; it only has to wake the holder.
static void ignore(int number) { (void)number; }

FUNCTION void wait_in_lease(void) {
    int ready[2];
    snprintf(path, sizeof path, "%s/leased", folder);
    make_pipe(ready);
    pid_t child = fork();
    if (child == 0) {
        sigset_t wanted;
        sigemptyset(&wanted);
        sigaddset(&wanted, SIGIO);
        sigprocmask(SIG_BLOCK, &wanted, NULL);
        signal(SIGIO, ignore);
        int own = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fcntl(own, F_SETLEASE, F_WRLCK) != 0) fail("F_SETLEASE");
        tell(ready[1]);
        sigwaitinfo(&wanted, NULL);
        pause_for(LENGTH_MS);
        fcntl(own, F_SETLEASE, F_UNLCK);
        _exit(0);
    }
    close(ready[1]);
    hear(ready[0]);
    start_clock();
    int file = open(path, O_RDWR | O_CLOEXEC);
    stop_clock("lease");
    waitpid(child, NULL, 0);
    close(file);
    close(ready[0]);
    unlink(path);
}

static pthread_t waiting;

static void send_signal(void) { pthread_kill(waiting, SIGUSR2); }

FUNCTION void wait_in_signal(void) {
    struct helper helper = {.act = send_signal, .name = "sender"};
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    waiting = pthread_self();
    WAIT_FOR(&helper, "signal", while (sigwaitinfo(&wanted, NULL) < 0));
}

FUNCTION void wait_in_stopped(void) {
    pid_t program = getpid(), child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        pause_for(LENGTH_MS);
        kill(program, SIGCONT);
        _exit(0);
    }
    start_clock();
    raise(SIGSTOP);
    stop_clock("stopped");
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*wait)(void);
} kinds[] = {
    {"mutex", wait_in_mutex},         {"rwlock", wait_in_rwlock},
    {"semaphore", wait_in_semaphore}, {"condition", wait_in_condition},
    {"join", wait_in_join},           {"pipe", wait_in_pipe},
    {"fifo", wait_in_fifo},           {"file", wait_in_file},
    {"connect", wait_in_connect},     {"receive", wait_in_receive},
    {"accept", wait_in_accept},       {"unix", wait_in_unix},
    {"nanosleep", wait_in_nanosleep}, {"poll", wait_in_poll},
    {"epoll", wait_in_epoll},         {"select", wait_in_select},
    {"child", wait_in_child},         {"any", wait_in_any},
    {"flock", wait_in_flock},         {"lease", wait_in_lease},
    {"signal", wait_in_signal},       {"stopped", wait_in_stopped},
};

int main(int argc, char **argv) {
    // The child that is waited for: this program under another name.
    if (strcmp(argv[0], "sleeper") == 0) {
        pause_for((int)count_argument(argc, argv, 1, LENGTH_MS));
        return 0;
    }
    if (mkdtemp(folder) == NULL) fail(folder);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        int is_wanted = argc == 1;
        for (int index = 1; index < argc; index++) {
            if (strcmp(argv[index], kinds[kind].name) == 0) is_wanted = 1;
        }
        if (is_wanted) kinds[kind].wait();
    }
    // A main thread that only waits for a thread that it made counts as replaced by that thread.
    uint64_t state = 1;
    BURN(state, 30 * ROUNDS_PER_MS);
    volatile uint64_t kept = state;
    (void)kept;
    rmdir(folder);
    truth_write();
    return 0;
}
