#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Processes.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int fl_open_pid(pid_t pid) {
    const long descriptor = syscall(SYS_pidfd_open, pid, 0);
    return descriptor == -1 ? -errno : (int)descriptor;
}

int fl_signal_pid(int pidfd, int signal) {
    return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) == 0 ? 0 : -errno;
}

// `struct pidfd_info` of the kernel's pidfd.h, which may be newer than the headers here.
struct process_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[3];
    uint32_t credentials[8];
    int32_t exit_code;
};

int fl_end_of_pid(int pidfd, int *status) {
    static const uint64_t told_exit = 1 << 3;  // PIDFD_INFO_EXIT
    struct process_info info = {.mask = told_exit};
    if (ioctl(pidfd, _IOWR(0xFF, 11, struct process_info), &info) < 0) return 0;
    if (!(info.mask & told_exit)) return 0;
    *status = info.exit_code;
    return 1;
}
