// sandbox MODE [MS]: computes for MS milliseconds (default 200), restricts its own system calls
// with seccomp, on pain of death, and computes on for ~100 ms.
//   filter      allows only calls that it needs itself: no clock, no process id, no other signals
//   strict      SECCOMP_MODE_STRICT: read, write, _exit and the return from handlers
//   strict-call the same by seccomp(2), which has no function of its own
//   tsync       one thread restricts all, as `filter` does, while three others compute
//   fork-exec   a child restricts itself and executes this program again
//   exec        restricts itself and executes this program again
//   child       a child restricts itself, and then changes its mask and a signal's action
// The two before deny what an ordinary program can do without: clocks' system calls, shared memory,
// looking at other processes.
//   compute     only computes: what the last two execute
// Writes its checksums. Exits with 0; a process that breaks the rules is killed.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

#define WORKERS 3
/// How long is computed under the restriction.
#define RESTRICTED_MS 100

FUNCTION uint64_t compute(uint64_t state, uint64_t milliseconds) {
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

/// By `write` alone: stdio would ask what kind of file it is.
static void say(const char *what, uint64_t checksum) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %016llx\n", what, (unsigned long long)checksum);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) _exit(1);
}

// MARK: Rules

static const uint32_t needed[] = {SYS_read,         SYS_write, SYS_exit, SYS_exit_group,
                                  SYS_rt_sigreturn, SYS_brk,   SYS_mmap, SYS_munmap,
                                  SYS_futex};
static const uint32_t dispensable[] = {
    SYS_clock_gettime,    SYS_memfd_create, SYS_ftruncate, SYS_getpid, SYS_gettid, SYS_nanosleep,
    SYS_process_vm_readv, SYS_tgkill,       SYS_ptrace};

/// Installs a filter that does `then` for the calls in `list` and `otherwise` for all others.
static void filter(
    const uint32_t *list, size_t count, uint32_t then, uint32_t otherwise, unsigned flags) {
    struct sock_filter code[32];
    size_t length = 0;
    if (count + 6 > sizeof code / sizeof *code) exit(125);
    code[length++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
#ifdef __x86_64__
    code[length++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
#else
    code[length++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0);
#endif
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[length++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < count; index++) {
        code[length++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, list[index], (uint8_t)(count - index), 0);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, then);
    struct sock_fprog program = {.len = (unsigned short)length, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("PR_SET_NO_NEW_PRIVS");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0) fail("seccomp");
}

static void allow_needed_only(unsigned flags) {
    filter(needed, sizeof needed / sizeof *needed, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS,
           flags);
}

static void deny_dispensable(void) {
    filter(dispensable, sizeof dispensable / sizeof *dispensable, SECCOMP_RET_KILL_PROCESS,
           SECCOMP_RET_ALLOW, 0);
}

// MARK: Modes

static void run_filter(uint64_t milliseconds) {
    uint64_t checksum = compute(1, milliseconds);
    say("before", checksum);
    allow_needed_only(0);
    say("after", compute(checksum, RESTRICTED_MS));
}

/// Ends by `exit`: even `exit_group` is forbidden.
static void run_strict(uint64_t milliseconds, int by_call) {
    uint64_t checksum = compute(1, milliseconds);
    say("before", checksum);
    if (by_call) {
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) != 0) fail("seccomp");
    } else if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
        fail("PR_SET_SECCOMP");
    }
    say("after", compute(checksum, RESTRICTED_MS));
    syscall(SYS_exit, 0);
}

static uint64_t milliseconds_before;
static atomic_uint done;
static atomic_ullong sum;

/// Ends the thread by the one call that it may make: the C library's way makes others.
static void leave(uint64_t result) {
    atomic_fetch_add(&sum, result);
    atomic_fetch_add(&done, 1);
    syscall(SYS_futex, &done, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    syscall(SYS_exit, 0);
}

static void *work(void *unused) {
    (void)unused;
    leave(compute(1, milliseconds_before + RESTRICTED_MS));
    return NULL;
}

static void *restrict_all(void *unused) {
    (void)unused;
    uint64_t checksum = compute(2, milliseconds_before);
    allow_needed_only(SECCOMP_FILTER_FLAG_TSYNC);
    leave(compute(checksum, RESTRICTED_MS / 2));
    return NULL;
}

static void run_tsync(uint64_t milliseconds) {
    milliseconds_before = milliseconds;
    for (int index = 0; index <= WORKERS; index++) {
        pthread_t thread;
        errno = pthread_create(&thread, NULL, index == WORKERS ? restrict_all : work, NULL);
        if (errno != 0) fail("pthread_create");
    }
    unsigned ended;
    while ((ended = atomic_load(&done)) <= WORKERS)
        syscall(SYS_futex, &done, FUTEX_WAIT_PRIVATE, ended, NULL, NULL, 0);
    say("threads", atomic_load(&sum));
}

static void run_exec(char *program, uint64_t milliseconds) {
    say("before", compute(1, milliseconds));
    deny_dispensable();
    char *words[] = {program, "compute", NULL};
    execv(program, words);
    _exit(127);
}

static void run_fork_exec(char *program, uint64_t milliseconds) {
    uint64_t checksum = compute(1, milliseconds);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) run_exec(program, 20);
    checksum = compute(checksum, RESTRICTED_MS);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    say("parent", checksum);
    if (status != 0) _exit(1);
}

/// The child's actions are not its parent's.
static void run_child(uint64_t milliseconds) {
    uint64_t checksum = compute(1, milliseconds);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        deny_dispensable();
        sigset_t all;
        sigfillset(&all);
        struct sigaction action = {.sa_handler = SIG_IGN};
        if (pthread_sigmask(SIG_SETMASK, &all, NULL) != 0) _exit(1);
        if (sigaction(SIGURG, &action, NULL) != 0 || sigaction(SIGWINCH, &action, NULL) != 0)
            _exit(2);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(3);
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (status != 0) fail("child");
    say("parent", compute(checksum, milliseconds));
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    uint64_t milliseconds = count_argument(argc, argv, 2, 200);
    if (strcmp(mode, "filter") == 0)
        run_filter(milliseconds);
    else if (strcmp(mode, "strict") == 0)
        run_strict(milliseconds, 0);
    else if (strcmp(mode, "strict-call") == 0)
        run_strict(milliseconds, 1);
    else if (strcmp(mode, "tsync") == 0)
        run_tsync(milliseconds);
    else if (strcmp(mode, "fork-exec") == 0)
        run_fork_exec(argv[0], milliseconds);
    else if (strcmp(mode, "exec") == 0)
        run_exec(argv[0], milliseconds);
    else if (strcmp(mode, "child") == 0)
        run_child(milliseconds);
    else if (strcmp(mode, "compute") == 0)
        say("computed", compute(1, milliseconds));
    else {
        fprintf(stderr, "usage: sandbox filter | strict | strict-call | tsync | fork-exec | exec | child | "
                        "compute\n");
        return 125;
    }
    _exit(0);
}
