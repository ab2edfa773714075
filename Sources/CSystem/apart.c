#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "apart.h"
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int fl_moved(int descriptor) {
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
    const int error = errno;
    close(descriptor);
    errno = error;
    return copy;
}

void fl_close_if_open(int descriptor) {
    if (descriptor >= 0) close(descriptor);
}

void fl_become_apart(const char *name, int count) {
    // All our other descriptors belong to the recorder.
    fl_close_from(3 + (unsigned)count);
    for (int number = 0; number < 3; number++) close(number);
    (void)!chdir("/");
    prctl(PR_SET_NAME, name);
}

int fl_start_apart(void (*body)(const void *), const void *argument) {
    const pid_t child = fork();
    if (child == 0) {
        // The intermediate process ends at once.
        const pid_t apart = fork();
        if (apart == 0) {
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_SETMASK, &all, NULL);
            body(argument);
            _exit(0);
        }
        _exit(apart < 0 ? errno : 0);
    }
    if (child < 0) return -errno;
    int status = 0;
    if (fl_wait_briefly(child, &status) != child) return 0;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}
