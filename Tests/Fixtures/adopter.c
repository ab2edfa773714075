// adopter FD PROGRAM [ARG…]: runs PROGRAM and waits for it and for every process that it leaves
// behind, which become the adopter's own children. Writes `PID STATUS` lines to descriptor FD,
// which PROGRAM does not inherit; STATUS is 128 + N for one that signal N killed.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fixture.h"

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: adopter FD PROGRAM [ARG...]\n");
        return 125;
    }
    int announce = (int)count_argument(argc, argv, 1, 0);
    if (fcntl(announce, F_SETFD, FD_CLOEXEC) != 0) fail("FD");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) fail("PR_SET_CHILD_SUBREAPER");
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        execvp(argv[2], argv + 2);
        fail(argv[2]);
    }
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, 0)) > 0 || errno == EINTR) {
        if (ended <= 0) continue;
        int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (dprintf(announce, "%d %d\n", (int)ended, code) < 0) fail("FD");
    }
    return 0;
}
