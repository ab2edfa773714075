#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int result(long value) { return value == -1 ? -errno : 0; }

pid_t fl_wait(pid_t tid, int no_hang, int *status) {
    pid_t got;
    do got = waitpid(tid, status, __WALL | (no_hang ? WNOHANG : 0));
    while (got == -1 && errno == EINTR);
    return got == -1 ? -errno : got;
}

pid_t fl_wait_briefly(pid_t pid, int *status) {
    // A second or more: the process may be frozen, or wait for a file server.
    const struct timespec pause = {.tv_nsec = 200000};
    pid_t got = 0;
    for (int looks = 0; looks < 5000 && got == 0; looks++) {
        got = fl_wait(pid, 1, status);
        if (got == 0) nanosleep(&pause, NULL);
    }
    return got;
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
    // A tracer also gets stops, even if it did not ask for them.
    return info.si_pid == pid && tells_of_end(&info);
}

int fl_end_of(pid_t pid, struct fl_end *end) {
    siginfo_t info = {.si_pid = 0};
    struct rusage usage;
    if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL, &usage) != 0)
        return -errno;
    if (info.si_pid != pid || !tells_of_end(&info)) return 0;
    *end = (struct fl_end){
        .is_signal = info.si_code != CLD_EXITED,
        .code = info.si_status,
        .minor_faults = usage.ru_minflt,
        .major_faults = usage.ru_majflt,
        .blocks_read = usage.ru_inblock,
    };
    return 1;
}

int fl_take_stop(pid_t tid, int *is_traced) {
    siginfo_t info = {.si_pid = 0};
    // A thread that has ended will not stop.
    if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) != 0)
        return errno == ECHILD ? 0 : -errno;
    if (info.si_pid != tid) return 0;
    *is_traced = info.si_code == CLD_TRAPPED;
    return info.si_status << 8 | 0x7F;
}

int fl_adopt_orphans(int on) { return result(prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)); }

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

uint64_t fl_robust_list(pid_t tid) {
    void *head = NULL;
    size_t size = 0;
    return syscall(SYS_get_robust_list, tid, &head, &size) == 0 ? (uint64_t)head : 0;
}

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

int fl_timer_make(int number, timer_t *timer) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    return timer_create(CLOCK_MONOTONIC, &event, timer) == 0 ? 0 : -errno;
}

void fl_timer_start(timer_t timer, int64_t first, int64_t interval) {
    struct itimerspec times = {
        .it_value = {.tv_sec = first / 1000000000, .tv_nsec = first % 1000000000},
        .it_interval = {.tv_sec = interval / 1000000000, .tv_nsec = interval % 1000000000},
    };
    timer_settime(timer, TIMER_ABSTIME, &times, NULL);
}

void fl_timer_delete(timer_t timer) { timer_delete(timer); }

static struct fl_signal taken(const siginfo_t *info) {
    return (struct fl_signal){.number = info->si_signo, .code = info->si_code,
                              .overrun = info->si_code == SI_TIMER ? info->si_overrun : 0};
}

int fl_wait_signal(const sigset_t *set, struct fl_signal *out) {
    siginfo_t info;
    int number;
    do number = sigwaitinfo(set, &info);
    while (number == -1 && errno == EINTR);
    if (number == -1) return -errno;
    *out = taken(&info);
    return 0;
}

int fl_wait_signal_for(const sigset_t *set, int64_t nanoseconds, struct fl_signal *out) {
    const struct timespec time = {.tv_sec = nanoseconds / 1000000000,
                                  .tv_nsec = nanoseconds % 1000000000};
    siginfo_t info;
    if (sigtimedwait(set, &info, &time) == -1) return -errno;
    *out = taken(&info);
    return 0;
}

int fl_tick_signal(void) { return SIGRTMIN + 1; }

// Different from the signals for ticks and for interrupting our own calls (ptrace.c).
int fl_finish_signal(void) { return SIGRTMIN + 3; }

int fl_ask_for_short_turns(void) {
    // struct sched_attr of <linux/sched/types.h>, which glibc 2.36 does not have.
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
        uint32_t clamp_min, clamp_max;
    } attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return -errno;
    if (attributes.policy != 0) return 0;  // another policy was chosen for us
    attributes.flags = 0;
    attributes.runtime = 100000;
    return result(syscall(SYS_sched_setattr, 0, &attributes, 0));
}

int fl_own_core(void) {
    int core = sched_getcpu();
    return core < 0 ? -errno : core;
}

// More cores than any kernel is built for (CONFIG_NR_CPUS).
enum { word_bits = 8 * sizeof(unsigned long), core_words = 16384 / word_bits };

int fl_leave_core(int core) {
    unsigned long allowed[core_words] = {0}, others[core_words];
    if (core < 0 || core >= core_words * word_bits) return -EINVAL;
    // The call itself returns how many bytes the kernel's set has, glibc's function does not.
    long size = syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed);
    if (size < 0) return -errno;
    memcpy(others, allowed, sizeof others);
    others[core / word_bits] &= ~(1UL << core % word_bits);
    if (syscall(SYS_sched_setaffinity, 0, size, others) != 0) return -errno;  // the only core
    return result(syscall(SYS_sched_setaffinity, 0, size, allowed));
}

int fl_push_nobody_off(void) {
    struct sched_param priority = {0};
    if (sched_getscheduler(0) != SCHED_OTHER) return 0;  // another policy was chosen for us
    return result(sched_setscheduler(0, SCHED_BATCH, &priority));
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

void fl_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

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
    // At any moment the program may have another file under that number. So we first get a
    // reference that opens nothing yet, and check it; then we open that same file.
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
    // Only memory files can be sealed. If the program could truncate it, reading it would kill us.
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

int fl_read_pieces(pid_t pid, const uint64_t *addresses, size_t count, void *buffer, size_t size) {
    enum { at_once = 256 };
    struct iovec there[at_once];
    uint8_t *const pieces = buffer;
    for (size_t done = 0; done < count;) {
        const size_t wanted = count - done < at_once ? count - done : at_once;
        for (size_t index = 0; index < wanted; index++)
            there[index] = (struct iovec){(void *)addresses[done + index], size};
        struct iovec here = {pieces + done * size, wanted * size};
        const ssize_t got = process_vm_readv(pid, &here, 1, there, wanted, 0);
        if (got == -1 && errno == ESRCH) return -ESRCH;
        done += got == -1 ? 0 : (size_t)got / size;
        // It ends at the first unreadable piece, perhaps within it.
        if (got != (ssize_t)(wanted * size)) memset(pieces + done++ * size, 0, size);
    }
    return 0;
}

ssize_t fl_write_memory(pid_t pid, uint64_t address, const void *bytes, size_t length) {
    struct iovec here = {(void *)bytes, length};
    struct iovec there = {(void *)address, length};
    ssize_t written = process_vm_writev(pid, &here, 1, &there, 1, 0);
    return written == -1 ? -errno : written;
}

int fl_known_file(int folder, const char *path, struct fl_file *file) {
    struct statx known;
    const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT;
    if (statx(folder, path, flags, STATX_TYPE | STATX_INO, &known) == -1) return -errno;
    *file = (struct fl_file){
        known.stx_mode,
        makedev(known.stx_rdev_major, known.stx_rdev_minor),
        known.stx_ino,
        makedev(known.stx_dev_major, known.stx_dev_minor),
    };
    return 0;
}

// /dev/zero, full, random and urandom are memory devices, with major number 1.
int fl_is_endless(uint32_t mode, uint64_t device) {
    const unsigned number = minor(device);
    return S_ISCHR(mode) && major(device) == 1 &&
           (number == 5 || number == 7 || number == 8 || number == 9);
}

int fl_is_random(uint64_t device) { return minor(device) >= 8; }

ssize_t fl_get_random(void *buffer, size_t length) { return getrandom(buffer, length, 0); }

int fl_shares_memory(pid_t pid, pid_t other) {
    const int memory = 1;  // KCMP_VM of <linux/kcmp.h>
    const long order = syscall(SYS_kcmp, pid, other, memory, 0, 0);
    return order == -1 ? -errno : order == 0;
}

// Linux before 5.9 has no close_range, and a container's filter may not know it.
void fl_close_from(unsigned first) {
    if (syscall(SYS_close_range, first, ~0u, 0u) == 0) return;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1 << 20)
        limit.rlim_cur = 1 << 20;  // the kernel's default limit
    for (unsigned number = first; number < limit.rlim_cur; number++) close((int)number);
}

int fl_is_directory(uint32_t mode) { return S_ISDIR(mode); }
int fl_is_regular(uint32_t mode) { return S_ISREG(mode); }

int fl_has_file_capabilities(const char *path) {
    return getxattr(path, "security.capability", NULL, 0) > 0;
}
