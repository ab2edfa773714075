// phased LINKING INITIALISERS MAIN [OTHER FILE]: computes for so many microseconds, by the clock, in
// each of these phases of its launch; with FILE, to which each launch adds a byte, every other launch
// computes for OTHER in `main`. Prints "done" at its end.
// The resolver of an indirect function (IFUNC) belongs to the dynamic linker's phase; the library
// is not relocated yet then, so the resolver makes its system calls itself.
#include <sys/stat.h>
#include <sys/syscall.h>

#include "fixture.h"

static inline long call(long number, long first, const void *second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

static inline int64_t time_now(void) {
    struct timespec now;
    call(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void compute(int64_t since, int64_t microseconds) {
    while (time_now() < since + microseconds * 1000) {}
}

/// The first argument; it is not passed to a resolver.
static inline int64_t first_argument(void) {
    char words[512];
    const long file = call(SYS_open, (long)"/proc/self/cmdline", (const void *)O_RDONLY, 0);
    const long count = call(SYS_read, file, words, sizeof words - 1);
    call(SYS_close, file, NULL, 0);
    long place = 0;
    int64_t value = 0;
    while (place < count && words[place] != 0) place++;
    for (place++; place < count && words[place] >= '0' && words[place] <= '9'; place++)
        value = value * 10 + (words[place] - '0');
    return value;
}

static int one(void) { return 1; }

__attribute__((used)) static int (*resolve(void))(void) {
    const int64_t start = time_now();
    compute(start, first_argument());
    return one;
}

int indirect(void) __attribute__((ifunc("resolve")));
/// Data that refers to it is relocated at once, whatever is done lazily.
static int (*volatile resolved)(void) = indirect;

__attribute__((constructor)) static void initialise(int argc, char **argv) {
    const int64_t start = time_now();
    compute(start, (int64_t)count_argument(argc, argv, 2, 0));
}

static int is_second(const char *path) {
    struct stat status;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, ".", 1) != 1 || fstat(file, &status) != 0) fail(path);
    close(file);
    return status.st_size % 2 == 0;
}

int main(int argc, char **argv) {
    const int64_t start = time_now();
    const int other = argc > 5 && is_second(argv[5]);
    compute(start, (int64_t)count_argument(argc, argv, other ? 4 : 3, 0));
    if (resolved() != 1 || write(STDOUT_FILENO, "done\n", 5) != 5) return 1;
    return 0;
}
