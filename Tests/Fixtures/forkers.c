// forkers MODE: ways to make processes.
//   fork            a child without exec writes a line and exits with 7, the parent waits
//   vfork [N]       vfork and exec of /bin/true, N times (default 20)
//   spawn [N]       posix_spawn of /bin/true, N times (default 20)
//   daemon FD WAIT  daemonises (fork, setsid, fork), writes the daemon's pid and a line break to
//                   descriptor FD, closes it, and ends when descriptor WAIT reports its end
// Exits with 0 if every child ended as it should.
#include <spawn.h>
#include <sys/wait.h>

#include "fixture.h"

extern char **environ;
static char *true_arguments[] = {"/bin/true", NULL};

static int status_of(pid_t child) {
    int status = 0;
    pid_t ended;
    do ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended != child) fail("waitpid");
    return status;
}

static int run_fork(void) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        static const char line[] = "the child writes\n";
        _exit(write(STDOUT_FILENO, line, sizeof line - 1) == sizeof line - 1 ? 7 : 8);
    }
    int status = status_of(child);
    printf("the child exited with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
}

FUNCTION pid_t vfork_true(void) {
    pid_t child = vfork();
    if (child == 0) {
        execve(true_arguments[0], true_arguments, environ);
        _exit(127);
    }
    return child;
}

static pid_t spawn_true(void) {
    pid_t child = -1;
    errno = posix_spawn(&child, true_arguments[0], NULL, NULL, true_arguments, environ);
    return errno == 0 ? child : -1;
}

/// Starts `count` children, one after the other; 0 if each exited with 0.
static int run_children(pid_t (*start)(void), uint64_t count) {
    for (uint64_t index = 0; index < count; index++) {
        pid_t child = start();
        if (child < 0) fail("starting a child");
        if (status_of(child) != 0) return 1;
    }
    printf("children %llu\n", (unsigned long long)count);
    return 0;
}

/// Gives up the terminal and the standard streams, whose other ends someone may be waiting on.
static void leave_terminal(void) {
    if (setsid() < 0) fail("setsid");
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) fail("/dev/null");
    for (int stream = 0; stream <= 2; stream++) dup2(null, stream);
}

static int run_daemon(int announce, int wait) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child > 0) return status_of(child) == 0 ? 0 : 1;
    leave_terminal();
    child = fork();
    if (child != 0) _exit(child > 0 ? 0 : 1);
    if (dprintf(announce, "%d\n", (int)getpid()) < 0) _exit(1);
    close(announce);
    char byte;
    ssize_t length;
    do length = read(wait, &byte, 1);
    while (length > 0 || (length < 0 && errno == EINTR));
    return length == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "fork") == 0) return run_fork();
    if (strcmp(mode, "vfork") == 0)
        return run_children(vfork_true, count_argument(argc, argv, 2, 20));
    if (strcmp(mode, "spawn") == 0)
        return run_children(spawn_true, count_argument(argc, argv, 2, 20));
    if (strcmp(mode, "daemon") == 0 && argc == 4)
        return run_daemon((int)count_argument(argc, argv, 2, 0),
                          (int)count_argument(argc, argv, 3, 0));
    fprintf(stderr, "usage: forkers fork | vfork [N] | spawn [N] | daemon FD WAIT\n");
    return 125;
}
