// The child that becomes the program.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"
#include "Conditions.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// The kernel's structure: the C library refuses to change the signals that it uses itself.
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

uint64_t fl_ignored_signals(void) {
    uint64_t ignored = 0;
    for (int number = 1; number <= 64; number++) {
        struct kernel_action action;
        if (syscall(SYS_rt_sigaction, number, NULL, &action, 8) == 0 &&
            action.handler == (void *)SIG_IGN)
            ignored |= (uint64_t)1 << (number - 1);
    }
    return ignored;
}

static void ignore_signals(uint64_t ignored) {
    struct kernel_action action = {.handler = (void *)SIG_IGN};
    for (int number = 1; number <= 64; number++)
        if (ignored >> (number - 1) & 1) syscall(SYS_rt_sigaction, number, &action, NULL, 8);
}

// Which standard streams we were started without. Libraries open files in their place (SQLite
// does), which the program must not get.
static int missing_streams;

__attribute__((constructor)) static void find_missing_streams(void) {
    for (int number = 0; number < 3; number++)
        if (fcntl(number, F_GETFD) == -1) missing_streams |= 1 << number;
}

int fl_is_missing_stream(int number) {
    return number >= 0 && number < 3 && missing_streams >> number & 1;
}

static void close_missing_streams(void) {
    for (int number = 0; number < 3; number++)
        if (fl_is_missing_stream(number) && fcntl(number, F_GETFD) == 0) close(number);
}

// In this order: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF.
static struct itimerval timers[3];

void fl_take_timers(void) {
    const struct itimerval none = {{0}};
    for (int kind = ITIMER_REAL; kind <= ITIMER_PROF; kind++)
        setitimer(kind, &none, &timers[kind]);
}

static void start_timers(void) {
    for (int kind = ITIMER_REAL; kind <= ITIMER_PROF; kind++)
        if (timerisset(&timers[kind].it_value)) setitimer(kind, &timers[kind], NULL);
}

// All that a child needs to become a program.
struct fl_start {
    char *path;
    char **argv, **envp;
    char **shell;  // the arguments if the file is a script without `#!`
    int streams[2];
    sigset_t mask;
    uint64_t ignored;
    int memory, memory_number;
    int hold[2];    // for waiting; the child's end, and ours
    int report[2];  // for exec's error; our end, and the child's
};

static void free_words(char **words) {
    if (!words) return;
    for (size_t i = 0; words[i]; i++) free(words[i]);
    free(words);
}

static char **copy_words(char *const words[]) {
    size_t count = 0;
    while (words[count]) count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = strdup(words[i]);
        if (!copy[i]) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

// A script's arguments: those of the shell, then its path, then its own.
static char **words_for_shell(char *path, char **argv) {
    size_t count = 0;
    while (argv[count]) count++;
    char **words = calloc(count + 3, sizeof *words);
    if (!words) return NULL;
    words[0] = "/bin/sh";
    words[1] = path;
    for (size_t i = 1; i < count; i++) words[i + 1] = argv[i];
    return words;
}

static int open_ends(struct fl_start *start) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, start->hold) != 0) return -errno;
    if (pipe2(start->report, O_CLOEXEC) == 0) return 0;
    const int error = errno;
    close(start->hold[0]);
    close(start->hold[1]);
    return -error;
}

struct fl_start *fl_make_start(const char *path, char *const argv[], char *const envp[],
                               const int streams[2], const sigset_t *mask, uint64_t ignored,
                               int memory, int memory_number, int *error) {
    struct fl_start *start = calloc(1, sizeof *start);
    *error = ENOMEM;
    if (!start) return NULL;
    start->path = strdup(path);
    start->argv = copy_words(argv);
    start->envp = copy_words(envp);
    if (start->path && start->argv) start->shell = words_for_shell(start->path, start->argv);
    memcpy(start->streams, streams, sizeof start->streams);
    start->mask = *mask;
    start->ignored = ignored;
    start->memory = memory;
    start->memory_number = memory_number;
    const int result = start->shell && start->envp ? open_ends(start) : -ENOMEM;
    if (result == 0) return start;
    *error = -result;
    fl_free_start(start);
    return NULL;
}

void fl_free_start(struct fl_start *start) {
    free(start->path);
    free_words(start->argv);
    free_words(start->envp);
    free(start->shell);
    free(start);
}

// The child's side: reports whether it could enter its setting. The waiting process may share the
// setting.
static void enter_or_end(struct fl_child_setting *setting, int hold) {
    const int result = fl_enter_setting(setting), listener = setting->listener;
    fl_send_number(hold, result, listener);
    if (result != 0) _exit(127);
    if (listener >= 0) close(listener);
}

// The parent's side. 0 or -errno; then the child is gone.
static int await_setting(struct fl_child_setting *setting, int hold, pid_t child) {
    int result = 0, status;
    const int received = fl_receive_number(hold, &result, &setting->listener);
    if (received == 0 && result == 0) return 0;
    while (waitpid(child, &status, __WALL) == -1 && errno == EINTR) continue;
    return received != 0 ? received : result;
}

// The child's whole part. It may share our memory, so it must neither allocate nor lock.
static _Noreturn void become(const struct fl_start *start, struct fl_child_setting *setting) {
    char byte;
    // A new name, so that the child is not mistaken for the recorder, whose image it still is.
    prctl(PR_SET_NAME, "firstlight-new");
    close(start->hold[1]);
    if (setting) enter_or_end(setting, start->hold[0]);
    ssize_t got;
    do got = read(start->hold[0], &byte, 1);
    while (got == -1 && errno == EINTR);
    // The recorder is gone, so the program would run unrecorded.
    if (got != 1) _exit(127);
    ignore_signals(start->ignored);
    close_missing_streams();
    for (int number = 0; number < 2; number++)
        if (start->streams[number] >= 0) dup2(start->streams[number], STDOUT_FILENO + number);
    if (start->memory >= 0) dup2(start->memory, start->memory_number);
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
    start_timers();
    execve(start->path, start->argv, start->envp);
    if (errno == ENOEXEC) {
        execve(start->shell[0], start->shell, start->envp);
        errno = ENOEXEC;
    }
    const int error = errno;
    (void)!write(start->report[1], &error, sizeof error);
    _exit(127);
}

// The parent's side. `child` may be -errno.
static pid_t hold(const struct fl_start *start, pid_t child, struct fl_child_setting *setting,
                  int *release, int *failure) {
    close(start->hold[0]);
    close(start->report[1]);
    const int result = child < 0 ? child
                       : setting ? await_setting(setting, start->hold[1], child)
                                 : 0;
    if (result != 0) {
        close(start->hold[1]);
        close(start->report[0]);
        return result;
    }
    *release = start->hold[1];
    *failure = start->report[0];
    return child;
}

pid_t fl_fork_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                   int *failure) {
    const pid_t child = fork();
    if (child == 0) become(start, setting);
    return hold(start, child < 0 ? -errno : child, setting, release, failure);
}

void fl_share_held(struct fl_start *start, struct fl_child_setting *setting) {
    const pid_t child = vfork();
    if (child == 0) {
        fl_send_number(start->hold[0], getpid(), -1);
        become(start, setting);
    }
    if (child < 0) fl_send_number(start->hold[0], -errno, -1);
}

pid_t fl_await_held(struct fl_start *start, struct fl_child_setting *setting, int *release,
                    int *failure) {
    int child, none;
    const int received = fl_receive_number(start->hold[1], &child, &none);
    return hold(start, received != 0 ? received : child, setting, release, failure);
}

void fl_release_held(int release) {
    const char go = 1;
    (void)!send(release, &go, 1, MSG_NOSIGNAL);  // the child may have been killed meanwhile
    close(release);
}
