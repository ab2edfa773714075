#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "Files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_regular(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

int fl_open_regular(const char *path, int flags) {
    const int place = open(path, O_PATH | O_CLOEXEC | flags);
    if (place < 0) return -errno;
    if (!is_regular(place)) {
        close(place);
        return -EMEDIUMTYPE;
    }
    // Opens the file that was examined, even if another one is at its path now.
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", place);
    const int wanted = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int descriptor = open(name, wanted);
    // Reports must be readable even without /proc.
    if (descriptor < 0 && errno == ENOENT) descriptor = open(path, wanted | flags);
    const int error = errno;
    close(place);
    if (descriptor < 0) return -error;
    if (is_regular(descriptor)) return descriptor;
    close(descriptor);
    return -EMEDIUMTYPE;
}

// MARK: Guards

enum { most_guards = 512 };

static struct {
    _Atomic uintptr_t start;  // 0: free; 1: about to be taken
    _Atomic size_t size;
    atomic_int is_hit;
} guards[most_guards];

static _Thread_local volatile sig_atomic_t is_opening;

// Replaces the missing pages by zeros. True: reading can continue.
static int replace(uintptr_t start, uintptr_t end) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    return mmap((void *)start, end - start, PROT_READ, flags, -1, 0) != MAP_FAILED;
}

static void on_missing_page(int number, siginfo_t *information, void *context) {
    (void)context;
    const int error = errno;
    const uintptr_t page = 4096, address = (uintptr_t)information->si_addr;
    const uintptr_t first = address & ~(page - 1);
    int is_mended = 0;
    for (int i = 0; i < most_guards && !is_mended; i++) {
        const uintptr_t start = guards[i].start;
        if (start <= 1 || address < start || address - start >= guards[i].size) continue;
        guards[i].is_hit = 1;
        // All later pages are missing, too.
        is_mended = replace(first, (start + guards[i].size + page - 1) & ~(page - 1));
    }
    if (!is_mended && is_opening) is_mended = replace(first, first + page);
    // The fault is not ours: it will happen again, and end us.
    if (!is_mended) signal(number, SIG_DFL);
    errno = error;
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = on_missing_page,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigaction(SIGBUS, &action, NULL);
}

void fl_guard_begin(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    is_opening = 1;
}

void fl_guard_end(void) { is_opening = 0; }

int fl_guard(const void *start, size_t size) {
    for (int i = 0; i < most_guards; i++) {
        uintptr_t expected = 0;
        if (!atomic_compare_exchange_strong(&guards[i].start, &expected, 1)) continue;
        guards[i].is_hit = 0;
        guards[i].size = size;
        guards[i].start = (uintptr_t)start;
        return i;
    }
    return -1;
}

int fl_guard_was_hit(int guard) { return guard >= 0 && guards[guard].is_hit; }

void fl_unguard(int guard) {
    if (guard >= 0) guards[guard].start = 0;
}

int fl_memory_file(const char *name) {
    const int descriptor = memfd_create(name, MFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
