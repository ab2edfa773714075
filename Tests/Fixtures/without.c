// without CALL PROGRAM [ARGUMENT …]: executes a program without a system call.
//   close_range      there is none, as on Linux before 5.9 and under the filters of older containers
//   perf_event_open  it is forbidden, as Docker's filter does
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "fixture.h"

int main(int argc, char **argv) {
    const int is_forbidden = argc > 2 && strcmp(argv[1], "perf_event_open") == 0;
    const unsigned number = is_forbidden ? SYS_perf_event_open : SYS_close_range;
    const unsigned error = is_forbidden ? EPERM : ENOSYS;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    execvp(argv[2], argv + 2);
    return 1;
}
