// What the fixtures share: work of a known amount, and the truth about how long it took.
//
// The truth goes, as `name nanoseconds` lines, to where the environment variable
// FIRSTLIGHT_TRUTH says: an open file descriptor's number, or a file's path. Measuring is always
// on; only the writing depends on the variable.
#ifndef FIXTURE_H
#define FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// A function that stays one, under its own name.
#define FUNCTION __attribute__((noinline, noclone))

/// About this many rounds of MIX take a millisecond on the machine that they were tried on.
#define ROUNDS_PER_MS 650000ULL

/// One round of xorshift64 (G. Marsaglia, 2003): each step waits for the one before, so that its
/// cost hardly depends on the compiler. The empty assembler line keeps the work where it is
/// written. A macro, for an inlined function would be a frame of its own in stacks.
#define MIX(state)                              \
    do {                                        \
        (state) ^= (state) << 13;               \
        (state) ^= (state) >> 7;                \
        (state) ^= (state) << 17;               \
        __asm__ volatile("" : "+r"(state));     \
    } while (0)

/// Computes for `rounds` rounds. `state` is an uint64_t variable other than 0.
#define BURN(state, rounds)                                                       \
    do {                                                                          \
        for (uint64_t burn_left = (rounds); burn_left > 0; burn_left--) MIX(state); \
    } while (0)

static inline void fail(const char *what) {
    perror(what);
    exit(125);
}

/// A count from the command line; `otherwise` when there is no such argument.
static inline uint64_t count_argument(int argc, char **argv, int index, uint64_t otherwise) {
    if (index >= argc) return otherwise;
    char *end = NULL;
    errno = 0;
    uint64_t value = strtoull(argv[index], &end, 10);
    if (errno != 0 || end == argv[index] || *end != '\0') {
        fprintf(stderr, "%s: not a count: %s\n", argv[0], argv[index]);
        exit(125);
    }
    return value;
}

static inline int64_t nanoseconds(clockid_t clock) {
    struct timespec now = {0, 0};
    if (clock_gettime(clock, &now) != 0) fail("clock_gettime");
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#define TRUTH_LIMIT 64
struct truth {
    char name[32];
    int64_t nanoseconds;
};
static struct truth truths[TRUTH_LIMIT];
static atomic_uint truth_count;

/// Keeps a figure for `truth_write`. Any thread may call it.
static inline void truth_set(const char *name, int64_t nanoseconds) {
    unsigned index = atomic_fetch_add(&truth_count, 1);
    if (index >= TRUTH_LIMIT) return;
    snprintf(truths[index].name, sizeof truths[index].name, "%s", name);
    truths[index].nanoseconds = nanoseconds;
}

static inline int truth_descriptor(const char *target) {
    size_t length = strlen(target);
    if (length > 0 && strspn(target, "0123456789") == length) return atoi(target);
    return open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

/// Writes the figures that were kept; call it once, after every thread has ended.
static inline void truth_write(void) {
    const char *target = getenv("FIRSTLIGHT_TRUTH");
    if (target == NULL) return;
    int descriptor = truth_descriptor(target);
    if (descriptor < 0) fail(target);
    unsigned count = atomic_load(&truth_count);
    for (unsigned index = 0; index < count && index < TRUTH_LIMIT; index++) {
        if (dprintf(descriptor, "%s %lld\n", truths[index].name,
                    (long long)truths[index].nanoseconds) < 0)
            fail(target);
    }
    close(descriptor);
}

#endif
