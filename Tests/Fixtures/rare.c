// rare WHAT: computes for some 0.2 s between uses of something that few programs use, prints the
// result, and exits with status 7.
//
//   uring      waits in io_uring_enter for timeouts and for reads of a pipe
//   userfault  touches pages that a thread of its own fills in (userfaultfd), its stack's, too
//   strict     gives up all system calls but read, write and exit by prctl
//   numbers    changes signals' actions and masks by syscall(2), also from where nothing is
//   namespaces begins a user, process and mount namespace; its child is process 1 there
//   inherit    threads take turns by mutexes with priority inheritance, with and without a limit
//   unmapped, moved, protected: changes its vdso so, before it asks for the time again
//   daemon     detaches twice, closes everything, works, and says through a pipe how that went
//   traced     is traced by the process that started it (PTRACE_TRACEME)
//   parent     is traced by its child for a moment, as crash handlers do
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fixture.h"

#define ROUNDS 40

FUNCTION uint64_t work(uint64_t milliseconds) {
    uint64_t state = 1;
    BURN(state, milliseconds * ROUNDS_PER_MS);
    return state;
}

// io_uring, by its system calls.

struct uring {
    int descriptor;
    _Atomic unsigned *submitted, *completed, *taken;
    unsigned submission_mask, completion_mask, *array;
    struct io_uring_sqe *entries;
    struct io_uring_cqe *completions;
};

static struct uring uring_make(void) {
    struct io_uring_params parameters = {0};
    struct uring ring = {.descriptor = (int)syscall(SYS_io_uring_setup, 8, &parameters)};
    if (ring.descriptor < 0) fail("io_uring_setup");
    const size_t size = 64 * 1024;
    char *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.descriptor,
                        IORING_OFF_SQ_RING);
    char *entries = mmap(NULL, 8 * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
                         ring.descriptor, IORING_OFF_SQES);
    if (shared == MAP_FAILED || entries == MAP_FAILED) fail("mmap");
    ring.submitted = (_Atomic unsigned *)(shared + parameters.sq_off.tail);
    ring.submission_mask = *(unsigned *)(shared + parameters.sq_off.ring_mask);
    ring.array = (unsigned *)(shared + parameters.sq_off.array);
    ring.entries = (struct io_uring_sqe *)entries;
    ring.taken = (_Atomic unsigned *)(shared + parameters.cq_off.head);
    ring.completed = (_Atomic unsigned *)(shared + parameters.cq_off.tail);
    ring.completion_mask = *(unsigned *)(shared + parameters.cq_off.ring_mask);
    ring.completions = (struct io_uring_cqe *)(shared + parameters.cq_off.cqes);
    return ring;
}

/// Submits one entry and waits for its completion, in one call: its result, or -EINTR's like.
static int uring_await(struct uring *ring, struct io_uring_sqe entry) {
    const unsigned index = *ring->submitted & ring->submission_mask;
    ring->entries[index] = entry;
    ring->array[index] = index;
    atomic_fetch_add(ring->submitted, 1);
    if (syscall(SYS_io_uring_enter, ring->descriptor, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
        return -errno;
    if (*ring->completed == *ring->taken) return 0;
    const int result = ring->completions[*ring->taken & ring->completion_mask].res;
    atomic_fetch_add(ring->taken, 1);
    return result;
}

static void uring(void) {
    struct uring ring = uring_make();
    int ends[2], late = 0, complete = 0;
    if (pipe(ends) != 0) fail("pipe");
    for (int round = 0; round < ROUNDS; round++) {
        work(4);
        struct __kernel_timespec pause = {.tv_nsec = 2000000};
        const int result = uring_await(
            &ring, (struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .fd = -1, .len = 1,
                                         .addr = (uintptr_t)&pause});
        late += result == -ETIME;
        char text[8] = "";
        if (write(ends[1], "a word", 6) != 6) fail("write");
        complete += uring_await(
            &ring, (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = ends[0],
                                         .addr = (uintptr_t)text, .len = 6}) == 6;
    }
    printf("timeouts %d reads %d\n", late, complete);
}

// userfaultfd.

#define PAGE 4096ULL
#define STACK (64 * PAGE)

static int faults_descriptor;
static atomic_uint faults;

static void *fill_in(void *unused) {
    static char page[PAGE];
    struct uffd_msg message;
    while (read(faults_descriptor, &message, sizeof message) == sizeof message) {
        if (message.event != UFFD_EVENT_PAGEFAULT) continue;
        struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~(PAGE - 1),
                                   .src = (uintptr_t)page, .len = PAGE};
        if (ioctl(faults_descriptor, UFFDIO_COPY, &copy) != 0 && errno != EEXIST) fail("UFFDIO_COPY");
        atomic_fetch_add(&faults, 1);
    }
    return unused;
}

static void *on_missing_stack(void *pages) {
    uint64_t sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        volatile char *page = (char *)pages + (uint64_t)round * PAGE;
        sum += (uint64_t)*page + (work(4) != 0);
        *page = 1;
    }
    return (void *)(uintptr_t)sum;
}

static void userfault(void) {
    faults_descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    if (faults_descriptor < 0 || ioctl(faults_descriptor, UFFDIO_API, &api) != 0)
        fail("userfaultfd");
    const size_t size = ROUNDS * PAGE + STACK;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) fail("mmap");
    struct uffdio_register range = {.range = {(uintptr_t)pages, size},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(faults_descriptor, UFFDIO_REGISTER, &range) != 0) fail("UFFDIO_REGISTER");
    pthread_t filler, worker;
    if (pthread_create(&filler, NULL, fill_in, NULL) != 0) fail("pthread_create");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, pages + ROUNDS * PAGE, STACK);
    void *sum = NULL;
    if (pthread_create(&worker, &attributes, on_missing_stack, pages) != 0) fail("pthread_create");
    pthread_join(worker, &sum);
    printf("sum %d, of the data %s\n", (int)(uintptr_t)sum,
           atomic_load(&faults) >= ROUNDS ? "all pages" : "too few pages");
}

// Few system calls.

static void strict(void) {
    work(60);
    fflush(stdout);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) fail("prctl");
    if (write(STDOUT_FILENO, "strict\n", 7) != 7) syscall(SYS_exit, 1);
    work(150);
    if (write(STDOUT_FILENO, "over\n", 5) != 5) syscall(SYS_exit, 1);
    syscall(SYS_exit, 7);
}

// As the kernel has it.
struct action {
    uintptr_t handler;
    unsigned long flags;
    uintptr_t restorer;
    uint64_t mask;
};

static void numbers(void) {
    struct action old;
    uint64_t urgent = 1ULL << (SIGURG - 1), mask;
    void *const nowhere = (void *)8;
    uintptr_t told = 0;
    int refused = 0, odd = 0;
    for (int round = 0; round < ROUNDS; round++) {
        work(4);
        if (syscall(SYS_rt_sigaction, SIGURG, NULL, &old, 8) != 0) fail("rt_sigaction");
        told |= old.handler | old.flags | old.restorer | old.mask;
        refused += syscall(SYS_rt_sigaction, SIGURG, nowhere, NULL, 8) == -1 && errno == EFAULT;
        refused += syscall(SYS_rt_sigprocmask, SIG_BLOCK, nowhere, NULL, 8) == -1 && errno == EFAULT;
        refused += syscall(SYS_rt_sigaction, SIGUSR1, NULL, nowhere, 8) == -1 && errno == EFAULT;
        if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &urgent, NULL, 8) != 0) fail("rt_sigprocmask");
        work(1);
        if (syscall(SYS_rt_sigpending, &mask, 8) != 0) fail("rt_sigpending");
        odd += (mask & urgent) != 0;
        if (syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &urgent, &mask, 8) != 0) fail("rt_sigprocmask");
        odd += mask != urgent;
        // Six arguments, the last of which is on the stack.
        odd += syscall(SYS_mmap, NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1L) != -1;
    }
    printf("told %lx refused %d odd %d\n", (unsigned long)told, refused, odd);
}

static void namespaces(void) {
    work(40);
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) != 0) fail("unshare");
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        int error = mount("none", "/tmp", "tmpfs", 0, NULL) != 0 ? errno : 0;
        work(100);
        printf("process %d, mount %d\n", (int)getpid(), error);
        fflush(stdout);
        _exit(3);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) fail("waitpid");
    work(40);
    printf("child %d\n", WEXITSTATUS(status));
}

// Priority inheritance.

static pthread_mutex_t mutex;
static int turns, expired, odd;

static void *take_turns(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        if (pthread_mutex_lock(&mutex) != 0) odd++;
        turns++;
        work(1);
        pthread_mutex_unlock(&mutex);
        struct timespec limit;
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_sec += 60;
        if (pthread_mutex_timedlock(&mutex, &limit) != 0) odd++;
        turns++;
        work(1);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *give_up(void *unused) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec += 20000000;
    if (limit.tv_nsec >= 1000000000) limit.tv_sec++, limit.tv_nsec -= 1000000000;
    expired += pthread_mutex_timedlock(&mutex, &limit) == ETIMEDOUT;
    return unused;
}

static void inherit(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(&mutex, &attributes) != 0) fail("pthread_mutex_init");
    pthread_t threads[3], impatient;
    for (int index = 0; index < 3; index++) pthread_create(&threads[index], NULL, take_turns, NULL);
    for (int index = 0; index < 3; index++) pthread_join(threads[index], NULL);
    pthread_mutex_lock(&mutex);
    pthread_create(&impatient, NULL, give_up, NULL);
    pthread_join(impatient, NULL);
    printf("turns %d expired %d odd %d\n", turns, expired, odd);
}

// The vdso.

static void vdso(const char *what) {
    char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);
    size_t size = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[256];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from = 0, to = 0;
        if (strstr(line, "[vdso]") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
            size = to - from;
    }
    if (maps != NULL) fclose(maps);
    if (vdso == NULL || size == 0) fail("vdso");
    work(60);
    if (strcmp(what, "unmapped") == 0 && munmap(vdso, size) != 0) fail("munmap");
    if (strcmp(what, "protected") == 0 && mprotect(vdso, size, PROT_NONE) != 0) fail("mprotect");
    if (strcmp(what, "moved") == 0) {
        char *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mremap(vdso, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) != place)
            fail("mremap");
    }
    work(100);
    struct timespec now;
    if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) != 0) fail("clock_gettime");
    printf("%s\n", what);
}

// Other processes.

static void daemonise(void) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    const pid_t first = fork();
    if (first < 0) fail("fork");
    if (first == 0) {
        if (setsid() < 0 || fork() != 0) _exit(0);
        dup2(ends[1], 3);
        for (int descriptor = 0; descriptor < 1024; descriptor++)
            if (descriptor != 3) close(descriptor);
        if (chdir("/") != 0) _exit(1);
        umask(0);
        const char answer = getsid(0) != getpid() && work(100) != 0 ? 'y' : 'n';
        if (write(3, &answer, 1) != 1) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    int status = 0;
    if (waitpid(first, &status, 0) != first) fail("waitpid");
    work(40);
    char answer = '?', more = '?';
    const ssize_t length = read(ends[0], &answer, 1), rest = read(ends[0], &more, 1);
    printf("status %d, read %zd, %c, %zd\n", status, length, answer, rest);
}

static void traced(void) {
    const long result = ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    work(200);
    printf("traced %ld\n", result);
}

static void parent(void) {
    const pid_t self = getpid();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    int good = 0;
    for (int round = 0; round < 10; round++) {
        work(15);
        const pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            int status = 0;
            if (ptrace(PTRACE_ATTACH, self, NULL, NULL) != 0) _exit(1);
            if (waitpid(self, &status, 0) != self || !WIFSTOPPED(status)) _exit(2);
            const int cause = WSTOPSIG(status);
            if (ptrace(PTRACE_DETACH, self, NULL, NULL) != 0) _exit(3);
            _exit(cause == SIGSTOP ? 0 : 4);
        }
        int status = 0;
        while (waitpid(child, &status, 0) != child)
            if (errno != EINTR) fail("waitpid");
        good += status == 0;
        if (status != 0) printf("child %d\n", WEXITSTATUS(status));
    }
    printf("good %d\n", good);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*run)(void);
    } choices[] = {{"uring", uring},   {"userfault", userfault},   {"strict", strict},
                   {"inherit", inherit}, {"numbers", numbers}, {"namespaces", namespaces}, {"daemon", daemonise},
                   {"traced", traced},   {"parent", parent}};
    for (size_t index = 0; index < sizeof choices / sizeof *choices; index++) {
        if (strcmp(what, choices[index].name) != 0) continue;
        choices[index].run();
        return 7;
    }
    vdso(what);
    return 7;
}
