#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

const uint64_t fl_trace_options =
    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;

const uint64_t fl_trace_children = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

static int result(long value) { return value == -1 ? -errno : 0; }

// PTRACE_SEIZE waits, in the kernel, for an exec that is under way; the exec may wait for threads
// that we trace, and we for it. A signal makes the kernel begin the call anew: then another, which
// does nothing, takes its place. Once the call is through, nothing is changed.
static void give_up_seize(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *next = (const unsigned char *)registers[REG_RIP];
    if (registers[REG_RAX] == SYS_ptrace && next[0] == 0x0F && next[1] == 0x05)
        registers[REG_RAX] = SYS_getpid;
}

// A thread's own timer, for as long as it lives; nil where there is none.
static timer_t *seize_timer(void) {
    static _Thread_local timer_t timer;
    static _Thread_local int state;  // 0: not tried yet
    if (state == 0) {
        const int number = SIGRTMIN + 2;
        struct sigaction action = {.sa_sigaction = give_up_seize, .sa_flags = SA_SIGINFO};
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, number);
        event._sigev_un._tid = gettid();
        state = sigaction(number, &action, NULL) == 0 &&
                        pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 &&
                        timer_create(CLOCK_MONOTONIC, &event, &timer) == 0
                    ? 1
                    : -1;
    }
    return state == 1 ? &timer : NULL;
}

int fl_ptrace_seize(pid_t tid, uint64_t options) {
    timer_t *timer = seize_timer();
    // Again and again, for the first signal may come before the call.
    const struct itimerspec limit = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
    const struct itimerspec never = {.it_value.tv_nsec = 0};
    if (timer) timer_settime(*timer, 0, &limit, NULL);
    const long value = syscall(SYS_ptrace, PTRACE_SEIZE, tid, 0, options);
    const int status = value > 0 ? -ETIMEDOUT : result(value);
    if (timer) timer_settime(*timer, 0, &never, NULL);
    return status;
}
int fl_ptrace_interrupt(pid_t tid) { return result(ptrace(PTRACE_INTERRUPT, tid, 0, 0)); }
int fl_ptrace_continue(pid_t tid, int signal) {
    return result(ptrace(PTRACE_CONT, tid, 0, (long)signal));
}
int fl_ptrace_step(pid_t tid) { return result(ptrace(PTRACE_SINGLESTEP, tid, 0, 0)); }
int fl_ptrace_listen(pid_t tid) { return result(ptrace(PTRACE_LISTEN, tid, 0, 0)); }
int fl_ptrace_detach(pid_t tid, int signal) {
    return result(ptrace(PTRACE_DETACH, tid, 0, (long)signal));
}
int fl_ptrace_event_message(pid_t tid, uint64_t *message) {
    unsigned long value = 0;
    int status = result(ptrace(PTRACE_GETEVENTMSG, tid, 0, &value));
    *message = value;
    return status;
}

int fl_ptrace_get_registers(pid_t tid, struct fl_registers *out) {
    struct user_regs_struct in;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &in));
    if (status != 0) return status;
    *out = (struct fl_registers){
        .dwarf = {in.rax, in.rdx, in.rcx, in.rbx, in.rsi, in.rdi, in.rbp, in.rsp, in.r8, in.r9,
                  in.r10, in.r11, in.r12, in.r13, in.r14, in.r15, in.rip},
        .flags = in.eflags,
        .original_rax = in.orig_rax,
        .code_segment = in.cs,
    };
    return 0;
}

// The kernel restarts a call only if nobody has moved the thread. Who moves it does that here: by
// going back to the `syscall` instruction, with the call's number (or restart_syscall's).
static void leave_call(struct user_regs_struct *registers) {
    if ((long)registers->orig_rax < 0) return;
    long error = -(long)registers->rax;
    if (error == 512 || error == 513 || error == 514) {  // ERESTARTSYS, NOINTR, NOHAND
        registers->rax = registers->orig_rax;
        registers->rip -= 2;
    } else if (error == 516) {  // ERESTART_RESTARTBLOCK
        registers->rax = SYS_restart_syscall;
        registers->rip -= 2;
    }
    registers->orig_rax = (unsigned long)-1;
}

int fl_ptrace_resume_address(pid_t tid, uint64_t *resume) {
    struct user_regs_struct registers;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &registers));
    if (status != 0) return status;
    leave_call(&registers);
    *resume = registers.rip;
    return 0;
}

_Static_assert(sizeof(struct user_regs_struct) ==
                   sizeof(((struct fl_thread_state *)0)->registers), "all of them are kept");

int fl_ptrace_divert(pid_t tid, uint64_t address, struct fl_thread_state *state) {
    struct user_regs_struct registers;
    int status = result(ptrace(PTRACE_GETREGS, tid, 0, &registers));
    if (status == 0)
        status = result(ptrace(PTRACE_GETSIGMASK, tid, sizeof state->mask, &state->mask));
    if (status != 0) return status;
    memcpy(state->registers, &registers, sizeof registers);
    leave_call(&registers);
    const uint64_t top = registers.rsp - 128;
    status = fl_ptrace_poke(tid, top - 8, registers.rip);
    if (status == 0) status = fl_ptrace_poke(tid, top - 16, state->mask);
    if (status != 0) return status;
    registers.rsp = top - 16;
    registers.rip = address;
    status = result(ptrace(PTRACE_SETREGS, tid, 0, &registers));
    // Last: from now on the thread takes the mask back by itself.
    const uint64_t all = ~(uint64_t)0;
    if (status == 0) ptrace(PTRACE_SETSIGMASK, tid, sizeof all, &all);
    return status;
}

int fl_ptrace_restore(pid_t tid, const struct fl_thread_state *state) {
    // In this order, because after the second step the thread would not do it by itself.
    int status = result(ptrace(PTRACE_SETSIGMASK, tid, sizeof state->mask, &state->mask));
    if (status != 0) return status;
    return result(ptrace(PTRACE_SETREGS, tid, 0, state->registers));
}

int fl_ptrace_in_call(pid_t tid) {
    struct user_regs_struct in;
    return ptrace(PTRACE_GETREGS, tid, 0, &in) != 0 || (long)in.orig_rax >= 0;
}

// With a length of 0 nothing is registered.
static int has_sequences(void) {
    return syscall(SYS_rseq, NULL, 0, 0, 0) == 0 || errno != ENOSYS;
}

int fl_ptrace_in_sequence(pid_t tid) {
    struct {  // struct ptrace_rseq_configuration of <linux/ptrace.h>
        uint64_t area;
        uint32_t size, signature, flags, pad;
    } configuration = {.area = 0};
    struct user_regs_struct registers;
    struct {  // struct rseq_cs of <linux/rseq.h>
        uint32_t version, flags;
        uint64_t start, length, abort;
    } section;
    uint64_t address = 0;
    const int get_configuration = 0x420F;  // Linux 5.13 and later
    if (ptrace(get_configuration, tid, sizeof configuration, &configuration) <= 0) {
        // An older kernel does not tell. Only within a call, or where there are none (before Linux
        // 4.18), is a thread in no sequence for certain.
        if (errno != EIO && errno != EINVAL) return 0;
        return !fl_ptrace_in_call(tid) && has_sequences();
    }
    if (configuration.area == 0 || ptrace(PTRACE_GETREGS, tid, 0, &registers) != 0) return 0;
    if (fl_read_memory(tid, configuration.area + 8, &address, 8) != 8 || address == 0) return 0;
    if (fl_read_memory(tid, address, &section, sizeof section) != sizeof section) return 0;
    return registers.rip - section.start < section.length;
}

int fl_ptrace_poke(pid_t tid, uint64_t address, uint64_t word) {
    return result(ptrace(PTRACE_POKETEXT, tid, address, word));
}

pid_t fl_wait(pid_t tid, int no_hang, int *status) {
    pid_t got;
    do got = waitpid(tid, status, __WALL | (no_hang ? WNOHANG : 0));
    while (got == -1 && errno == EINTR);
    return got == -1 ? -errno : got;
}

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

static void close_missing_streams(void) {
    for (int number = 0; number < 3; number++)
        if (missing_streams >> number & 1 && fcntl(number, F_GETFD) == 0) close(number);
}

pid_t fl_spawn_held(const char *path, char *const argv[], char *const envp[],
                    const int streams[2], const sigset_t *mask, uint64_t ignored, int memory,
                    int memory_number, int *release, int *failure) {
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
    if (child < 0) {
        close(hold[1]);
        close(report[0]);
        return -error;
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

static int tells_of_end(const siginfo_t *info) {
    return info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
           info->si_code == CLD_DUMPED;
}

pid_t fl_peek(int *has_ended) {
    siginfo_t info = {.si_pid = 0};
    const int options = WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL;
    if (waitid(P_ALL, 0, &info, options) != 0) return 0;
    *has_ended = tells_of_end(&info);
    return info.si_pid;
}

int fl_has_ended(pid_t pid) {
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return 0;
    // A tracer is told of stops, too, asked or not.
    return info.si_pid == pid && tells_of_end(&info);
}

int64_t fl_process_cpu_ns(pid_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint64_t soft_limit(pid_t pid, int resource) {
    struct rlimit limit;
    if (prlimit(pid, resource, NULL, &limit) != 0) return UINT64_MAX;
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

uint64_t fl_address_space_limit(pid_t pid) { return soft_limit(pid, RLIMIT_AS); }
uint64_t fl_file_size_limit(pid_t pid) { return soft_limit(pid, RLIMIT_FSIZE); }
uint64_t fl_stack_limit(pid_t pid) { return soft_limit(pid, RLIMIT_STACK); }

int fl_read_int(int descriptor, int *value) {
    ssize_t got;
    do got = read(descriptor, value, sizeof *value);
    while (got == -1 && errno == EINTR);
    if (got == -1) return -errno;
    return got == sizeof *value;
}

ssize_t fl_find(const void *bytes, size_t count, const void *wanted, size_t wanted_count) {
    const char *found = memmem(bytes, count, wanted, wanted_count);
    return found ? found - (const char *)bytes : -1;
}

int64_t fl_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int fl_timer_start(int number, int64_t first, int64_t interval, timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    if (timer_create(CLOCK_MONOTONIC, &event, timer) != 0) return -errno;
    struct itimerspec times = {
        .it_value = {.tv_sec = first / 1000000000, .tv_nsec = first % 1000000000},
        .it_interval = {.tv_sec = interval / 1000000000, .tv_nsec = interval % 1000000000},
    };
    if (timer_settime(*timer, TIMER_ABSTIME, &times, NULL) == 0) return 0;
    int error = errno;
    timer_delete(*timer);
    return -error;
}

void fl_timer_delete(timer_t timer) { timer_delete(timer); }

int fl_wait_signal(const sigset_t *set, struct fl_signal *out) {
    siginfo_t info;
    int number;
    do number = sigwaitinfo(set, &info);
    while (number == -1 && errno == EINTR);
    if (number == -1) return -errno;
    *out = (struct fl_signal){.number = number, .code = info.si_code,
                              .overrun = info.si_code == SI_TIMER ? info.si_overrun : 0};
    return 0;
}

int fl_tick_signal(void) { return SIGRTMIN + 1; }

int fl_ask_for_short_turns(void) {
    // struct sched_attr of <linux/sched/types.h>, which glibc 2.36 has not.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
        uint32_t clamp_min, clamp_max;
    } attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -errno;
    if (attributes.policy != 0) return 0;  // somebody has chosen another one for us
    attributes.flags = 0;
    attributes.runtime = 100000;
    return result(syscall(SYS_sched_setattr, 0, &attributes, 0));
}

int fl_signal_thread(pid_t pid, pid_t tid, int number, uint64_t value) {
    siginfo_t info = {.si_signo = number, .si_code = SI_QUEUE};
    info.si_value.sival_ptr = (void *)value;
    return result(syscall(SYS_rt_tgsigqueueinfo, pid, tid, number, &info));
}

int fl_make_memory(const char *name, size_t size) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    if (ftruncate(descriptor, (off_t)size) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

static int populate(struct dl_phdr_info *image, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int index = 0; index < image->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &image->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & (PF_X | PF_W))) continue;
        const uintptr_t start = (image->dlpi_addr + part->p_vaddr) & ~(uintptr_t)4095;
        const uintptr_t end = image->dlpi_addr + part->p_vaddr + part->p_memsz;
        const int populate_read = 22, populate_write = 23;  // Linux 5.14 and later
        madvise((void *)start, end - start, part->p_flags & PF_W ? populate_write : populate_read);
    }
    return 1;  // the first is the program itself
}

void fl_keep_memory(void) {
    dl_iterate_phdr(populate, NULL);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
}

int fl_free_descriptor(int least) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    const int end = limit.rlim_cur > 4096 ? 4096 : (int)limit.rlim_cur;
    for (int number = least < end ? least : end - 1; number > 2 && number < end; number++)
        if (fcntl(number, F_GETFD) == -1) return number;
    return -1;
}

void *fl_map_memory(int descriptor, size_t size) {
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return start == MAP_FAILED ? NULL : start;
}

int fl_open_memory(const char *path, size_t size) {
    // What the program has under that number may be another file at any moment. So it is taken hold
    // of first, by which nothing is opened yet, and looked at; what is opened then is the same.
    struct stat status;
    const int held = open(path, O_PATH | O_CLOEXEC);
    if (held < 0) return -errno;
    char own_path[32], target[64] = "";
    snprintf(own_path, sizeof own_path, "/proc/self/fd/%d", held);
    const int is_ours = fstat(held, &status) == 0 && S_ISREG(status.st_mode) &&
                        status.st_nlink == 0 && (size_t)status.st_size == size &&
                        readlink(own_path, target, sizeof target - 1) > 0 &&
                        strcmp(target, "/memfd:firstlight (deleted)") == 0;
    const int descriptor = is_ours ? open(own_path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
    const int error = is_ours ? errno : EBADF;
    close(held);
    if (descriptor < 0) return -error;
    // Only memory files can be sealed. Cut short by the program, it would end us when we read it.
    const int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    if (fstat(descriptor, &status) == 0 && (size_t)status.st_size == size &&
        fcntl(descriptor, F_ADD_SEALS, wanted) == 0 &&
        (fcntl(descriptor, F_GET_SEALS) & wanted) == wanted && fstat(descriptor, &status) == 0 &&
        (size_t)status.st_size == size)
        return descriptor;
    close(descriptor);
    return -EBADF;
}

void fl_unmap(void *start, size_t size) { munmap(start, size); }

int fl_release_shared(void *start, size_t size) {
    return madvise(start, size, MADV_REMOVE) == 0 ? 0 : -errno;
}

ssize_t fl_read_memory(pid_t pid, uint64_t address, void *buffer, size_t length) {
    struct iovec here = {buffer, length};
    struct iovec there = {(void *)address, length};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return got == -1 ? -errno : got;
}

// /dev/zero, full, random and urandom: of the memory devices, whose number is 1.
int fl_is_endless(uint32_t mode, uint64_t device) {
    const unsigned number = minor(device);
    return S_ISCHR(mode) && major(device) == 1 &&
           (number == 5 || number == 7 || number == 8 || number == 9);
}

int fl_shares_memory(pid_t pid, pid_t other) {
    const int memory = 1;  // KCMP_VM of <linux/kcmp.h>
    const long order = syscall(SYS_kcmp, pid, other, memory, 0, 0);
    return order == -1 ? -errno : order == 0;
}

int fl_is_directory(uint32_t mode) { return S_ISDIR(mode); }
int fl_is_regular(uint32_t mode) { return S_ISREG(mode); }

int fl_has_file_capabilities(const char *path) {
    return getxattr(path, "security.capability", NULL, 0) > 0;
}
