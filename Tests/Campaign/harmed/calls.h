// The parts of the table of calls.c: how often a call is made, what is counted, the data of calls,
// and the threads at the other end.
#ifndef CALLS_H
#define CALLS_H

#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "harmed.h"

/// After SETUP, a call again and again, which is to return WANTED.
#define CALL(NAME, SETUP, WANTED, CODE)         \
    if (is_chosen(NAME)) {                      \
        SETUP;                                  \
        while (goes_on()) expect(CODE, WANTED); \
    }
/// The same of a call that is to end by its time-out: `milliseconds`, `limit` or `deadline`.
#define WAIT(NAME, SETUP, WANTED, ERROR, CODE)             \
    if (is_chosen(NAME)) {                                 \
        SETUP;                                             \
        while (goes_on()) expect_end(CODE, WANTED, ERROR); \
    }

static const char *chosen;
static uint64_t times;
static int milliseconds;
static int64_t began;
static struct timespec limit, deadline;
static atomic_int shorts, interrupted, early, failed, wrong;

/// If none is chosen, all names are printed.
static int is_chosen(const char *name) {
    if (chosen == NULL) puts(name);
    return chosen != NULL && strcmp(name, chosen) == 0;
}

static struct timespec timespec_of(int64_t time) {
    return (struct timespec){time / (1000 * NS_PER_MS), time % (1000 * NS_PER_MS)};
}

static void nap(double milliseconds) {
    struct timespec left = timespec_of((int64_t)(milliseconds * NS_PER_MS));
    while (milliseconds > 0 && nanosleep(&left, &left) != 0) continue;
}

/// True for 10 ms, five times as often as requested. Before, it computes: for so long that a
/// profiler may think that the thread does nothing else, or for less.
static int goes_on(void) {
    static const double computing[] = {17, 1, 20, 2, 17};
    static uint64_t round, turn;
    static int64_t end;
    if (now() >= end) {
        if (round == 5 * times) return 0;
        compute(computing[round++ % 5]);
        end = now() + 10 * NS_PER_MS;
    }
    milliseconds = 1 + (int)(turn++ % 3);
    limit = timespec_of(milliseconds * NS_PER_MS);
    began = now();
    deadline = timespec_of(began + milliseconds * NS_PER_MS);
    return 1;
}

static void expect(ssize_t got, ssize_t wanted) {
    if (got == wanted) return;
    (got >= 0 ? shorts++ : errno == EINTR ? interrupted++ : failed++);
    fprintf(stderr, "%zd of %zd: %m\n", got, wanted);
}

static void expect_end(ssize_t got, ssize_t wanted, int error) {
    const int64_t left = began + milliseconds * NS_PER_MS - now();
    if (got != wanted || (error != 0 && errno != error))
        (got < 0 && errno == EINTR ? interrupted++ : failed++);
    else
        early += left > 0;
    if (left > 0) fprintf(stderr, "%zd, %lld ns early: %m\n", got, (long long)left);
}

/// Of functions that return an error's number.
static int result_of(int error) {
    errno = error;
    return error == 0 ? 0 : -1;
}

// The data of calls. `data` stays as it is.

static char *data, *space;
static int from, to, ours, theirs, in, out, next_in, next_out;

static struct iovec *part(char *place, size_t size) {
    static struct iovec part;
    part = (struct iovec){place, size};
    return &part;
}

static struct iovec *parts(char *place, size_t size) {
    static struct iovec parts[4];
    for (size_t index = 0; index < 4; index++)
        parts[index] = (struct iovec){place + index * (size / 4), size / 4};
    return parts;
}

static struct msghdr *message(char *place, size_t size) {
    static struct msghdr message;
    message = (struct msghdr){.msg_iov = parts(place, size), .msg_iovlen = 4};
    return &message;
}

static struct mmsghdr *messages(char *place, int count) {
    static struct mmsghdr messages[16];
    static struct iovec parts[16];
    for (int index = 0; index < count; index++) {
        parts[index] = (struct iovec){place + index * 4 * KIB, 4 * KIB};
        messages[index].msg_hdr = (struct msghdr){.msg_iov = &parts[index], .msg_iovlen = 1};
    }
    return messages;
}

// The threads at the other end. Each gets the address of a descriptor.

static ssize_t feed_size, drain_size = 64 * KIB;
static double feed_pause, drain_pause;

static void *feed(void *end) {
    for (;;) {
        nap(feed_pause);
        if (write(*(int *)end, data + 8, (size_t)feed_size) == 0) return NULL;
    }
}

static void begin_feed(int *end, ssize_t size, double pause) {
    feed_size = size, feed_pause = pause;
    begin(feed, end);
}

static void *drain(void *end) {
    char found[64 * KIB];
    do nap(drain_pause);
    while (read(*(int *)end, found, (size_t)drain_size) != 0);
    return NULL;
}

/// The other end sends the data's first MiB, over and over again.
static void *check(void *end) {
    static char found[MIB];
    for (ssize_t place = 0, got; (got = read(*(int *)end, found, (size_t)(MIB - place))) != 0;) {
        if (got < 0) continue;
        wrong += memcmp(found, data + place, (size_t)got) != 0;
        place = (place + got) % MIB;
    }
    return NULL;
}

/// Calls a function, given by its address, again and again.
static void *repeat(void *function) {
    for (; function != NULL; nap(0.7)) ((void (*)(void))function)();
    return NULL;
}

#endif
