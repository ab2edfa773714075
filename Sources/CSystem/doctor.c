#define _GNU_SOURCE  // here only, see shim.c
#include "CSystem.h"
#include "Doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t fl_doctor_fork_waiting(int *input, int *release) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        while (read(ends[0], &byte, 1) == -1 && errno == EINTR) {}
        _exit(0);
    }
    int error = errno;
    close(ends[0]);
    if (child < 0) {
        close(ends[1]);
        return -error;
    }
    *input = ends[0];
    *release = ends[1];
    return child;
}

const void *fl_doctor_witness(size_t *length) {
    static const char text[] = "firstlight was here before the fork";
    *length = sizeof text;
    return text;
}

// The child's answer is one int in a pipe: 0 or -errno.
static int read_answer(int descriptor) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    int ready, answer;
    do ready = poll(&entry, 1, 1000);
    while (ready == -1 && errno == EINTR);
    if (ready == 0) return -ETIMEDOUT;
    return read(descriptor, &answer, sizeof answer) == sizeof answer ? answer : -EIO;
}

int fl_doctor_trace_from_outside(int *is_fatal) {
    int ends[2];
    *is_fatal = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    pid_t child = fork();
    if (child == 0) {
        int answer = ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0 ? 0 : -errno;
        // The child's exit detaches the process that it traces.
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    int error = errno;
    close(ends[1]);
    int answer = child < 0 ? -error : read_answer(ends[0]);
    close(ends[0]);
    if (child < 0) return answer;
    if (answer == -ETIMEDOUT) kill(child, SIGKILL);
    int status = 0;
    const pid_t got = fl_wait_briefly(child, &status);
    *is_fatal = got == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
    return answer;
}

int fl_doctor_share_memory(size_t size) {
    int descriptor = memfd_create("firstlight", MFD_CLOEXEC);
    if (descriptor < 0) return -errno;
    int error = 0;
    void *start = MAP_FAILED;
    if (ftruncate(descriptor, (off_t)size) != 0) error = errno;
    if (error == 0) {
        start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (start == MAP_FAILED) error = errno;
    }
    if (start != MAP_FAILED) {
        memset(start, 1, size);
        munmap(start, size);
    }
    close(descriptor);
    return -error;
}

int fl_doctor_cores(void) {
    // More than CPU_SETSIZE cores do not fit; then the kernel returns EINVAL.
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}
