// The child that becomes the program.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// The kernel's view: the C library refuses to talk about the signals that it uses itself.
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

// Which of the standard streams we were started without. Libraries put something in their place
// (SQLite does), which is not the program's.
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

// By their kind: ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF.
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

// The child's side: tells how entering its setting went.
static void enter_or_end(struct fl_child_setting *setting, int hold) {
    const int result = fl_enter_setting(setting);
    fl_send_number(hold, result, setting->listener);
    if (result != 0) _exit(127);
    if (setting->listener >= 0) close(setting->listener);
}

// The parent's side of it. 0 or -errno; then the child is gone.
static int await_setting(struct fl_child_setting *setting, int hold, pid_t child) {
    int result = 0, status;
    const int received = fl_receive_number(hold, &result, &setting->listener);
    if (received == 0 && result == 0) return 0;
    while (waitpid(child, &status, __WALL) == -1 && errno == EINTR) continue;
    return received != 0 ? received : result;
}

pid_t fl_spawn_held(const char *path, char *const argv[], char *const envp[],
                    const int streams[2], const sigset_t *mask, uint64_t ignored, int memory,
                    int memory_number, int *release, int *failure) {
    return fl_spawn_held_in(path, argv, envp, streams, mask, ignored, memory, memory_number, NULL,
                            release, failure);
}

pid_t fl_spawn_held_in(const char *path, char *const argv[], char *const envp[],
                       const int streams[2], const sigset_t *mask, uint64_t ignored, int memory,
                       int memory_number, struct fl_child_setting *setting, int *release,
                       int *failure) {
    int hold[2], report[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold) != 0) return -errno;
    if (pipe2(report, O_CLOEXEC) != 0) {
        int error = errno;
        close(hold[0]);
        close(hold[1]);
        return -error;
    }
    size_t count = 0;
    while (argv[count]) count++;
    const char **shell = calloc(count + 2, sizeof *shell);  // before fork: malloc locks
    pid_t child = shell ? fork() : -1;
    if (child == 0) {
        char byte;
        close(hold[1]);
        if (setting) enter_or_end(setting, hold[0]);
        ssize_t got;
        do got = read(hold[0], &byte, 1);
        while (got == -1 && errno == EINTR);
        // The recorder is gone, and nobody would record the program.
        if (got != 1) _exit(127);
        ignore_signals(ignored);
        close_missing_streams();
        for (int number = 0; number < 2; number++)
            if (streams[number] >= 0) dup2(streams[number], STDOUT_FILENO + number);
        if (memory >= 0) dup2(memory, memory_number);
        sigprocmask(SIG_SETMASK, mask, NULL);
        start_timers();
        execve(path, argv, envp);
        if (errno == ENOEXEC) {
            shell[0] = "/bin/sh";
            shell[1] = path;
            for (size_t i = 1; i < count; i++) shell[i + 1] = argv[i];
            execve("/bin/sh", (char *const *)shell, envp);
            errno = ENOEXEC;
        }
        int error = errno;
        (void)!write(report[1], &error, sizeof error);
        _exit(127);
    }
    int error = errno;
    free(shell);
    close(hold[0]);
    close(report[1]);
    const int result = child < 0 ? -error : setting ? await_setting(setting, hold[1], child) : 0;
    if (result != 0) {
        close(hold[1]);
        close(report[0]);
        return result;
    }
    *release = hold[1];
    *failure = report[0];
    return child;
}

void fl_release_held(int release) {
    const char go = 1;
    (void)!send(release, &go, 1, MSG_NOSIGNAL);  // it may have been killed meanwhile
    close(release);
}
