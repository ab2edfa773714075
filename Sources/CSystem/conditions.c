// Single calls that Swift cannot make.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Conditions.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

int64_t fl_file_system_type(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -errno;
    return (uint32_t)status.f_type;
}

int fl_is_byte_cached(int descriptor, int64_t offset) {
    char byte;
    const struct iovec part = {&byte, 1};
    const ssize_t got = preadv2(descriptor, &part, 1, offset, RWF_NOWAIT);
    if (got >= 0) return got == 1;
    return errno == EAGAIN ? 0 : -errno;
}

int fl_has_children(void) {
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}
