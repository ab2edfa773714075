#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "LinkLine.h"
#include "CSystem.h"
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// MARK: The process. It was forked from a process with several threads: system calls only.

enum { ethernet_header = 14, at_once = 64 };

struct frame {
    int64_t due;
    uint32_t length;
    unsigned char bytes[2048 - 12];
};

// One direction. `frames` is a ring.
struct way {
    struct fl_line_way rule;
    struct frame *frames;
    uint32_t first, count;
    int64_t free;  // when the last frame will have left
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint32_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static int64_t duration(const struct way *way, uint32_t length) {
    if (way->rule.rate <= 0 || length <= ethernet_header) return 0;
    return (int64_t)(length - ethernet_header) * 8 * 1000000000 / way->rule.rate;
}

// Puts the frames that have come to one end on their way to the other.
static void take(struct way *way, int from, uint64_t *random) {
    for (int i = 0; i < at_once; i++) {
        struct frame spare;
        const int is_full = way->count == way->rule.frames;
        struct frame *frame =
            is_full ? &spare : &way->frames[(way->first + way->count) % way->rule.frames];
        const ssize_t length = read(from, frame->bytes, sizeof frame->bytes);
        if (length <= 0) return;
        // A frame that fills the buffer may have been cut.
        if (is_full || length == sizeof frame->bytes) continue;
        if (way->rule.loss > 0 && next_random(random) < way->rule.loss) continue;
        const int64_t time = now();
        frame->length = (uint32_t)length;
        way->free = (way->free > time ? way->free : time) + duration(way, frame->length);
        frame->due = way->free + way->rule.delay;
        way->count++;
    }
}

static void pass_on(struct way *way, int to) {
    while (way->count > 0 && way->frames[way->first].due <= now()) {
        const struct frame *frame = &way->frames[way->first];
        (void)!write(to, frame->bytes, frame->length);
        way->first = (way->first + 1) % way->rule.frames;
        way->count--;
    }
}

static int64_t next_due(const struct way ways[2]) {
    int64_t due = INT64_MAX;
    for (int i = 0; i < 2; i++)
        if (ways[i].count > 0 && ways[i].frames[ways[i].first].due < due)
            due = ways[i].frames[ways[i].first].due;
    return due;
}

static void serve(struct way ways[2], const int ends[2], int parent) {
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    random |= 1;
    while (1) {
        struct pollfd watched[] = {{.fd = ends[0], .events = POLLIN},
                                   {.fd = ends[1], .events = POLLIN},
                                   {.fd = parent, .events = POLLIN}};
        const int64_t due = next_due(ways), wait = due == INT64_MAX ? 0 : due - now();
        const struct timespec limit = {.tv_sec = wait > 0 ? wait / 1000000000 : 0,
                                       .tv_nsec = wait > 0 ? wait % 1000000000 : 0};
        const int found = ppoll(watched, 3, due == INT64_MAX ? NULL : &limit, NULL);
        if (found < 0 && errno != EINTR) return;
        if (found > 0 && watched[2].revents != 0) return;
        for (int i = 0; i < 2; i++) {
            // An interface that was removed must not make us loop.
            if (found > 0 && watched[i].revents & (POLLERR | POLLHUP | POLLNVAL)) return;
            if (found > 0 && watched[i].revents & POLLIN) take(&ways[i], ends[i], &random);
            pass_on(&ways[i], ends[!i]);
        }
    }
}

// An interface whose frames go through the returned descriptor; or -errno.
static int open_end(int network, const char *name, int32_t index) {
    if (setns(network, CLONE_NEWNET) != 0) return -errno;
    const int device = fl_moved(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (device < 0) return -errno;
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    if (ioctl(device, TUNSETIFINDEX, &index) != 0 || ioctl(device, TUNSETIFF, &request) != 0) {
        const int error = errno;
        close(device);
        return -error;
    }
    return device;
}

// 0 or -errno.
static int open_line(const struct fl_line *line, struct way ways[2], int ends[2]) {
    if (line->user >= 0 && setns(line->user, CLONE_NEWUSER) != 0) return -errno;
    for (int i = 0; i < 2; i++) {
        ends[i] = open_end(line->networks[i], line->names[i], line->indices[i]);
        if (ends[i] < 0) return ends[i];
        ways[i] = (struct way){.rule = line->ways[i]};
        if (ways[i].rule.frames == 0) ways[i].rule.frames = 1;
        // Memory takes no room until a frame uses it.
        ways[i].frames = mmap(NULL, ways[i].rule.frames * sizeof *ways[i].frames,
                              PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                              -1, 0);
        if (ways[i].frames == MAP_FAILED) return -errno;
    }
    return 0;
}

static void run(const struct fl_line *line, int parent) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setpgid(0, 0);
    struct way ways[2];
    int ends[2];
    const int result = open_line(line, ways, ends);
    fl_send_number(parent, result, -1);
    if (result != 0) return;
    const int kept[] = {ends[0], ends[1], parent};
    for (int i = 0; i < 3; i++) dup2(kept[i], 3 + i);
    fl_become_apart("firstlight-link", 3);
    // Frames should be late by microseconds only.
    prctl(PR_SET_TIMERSLACK, 1);
    const int numbers[] = {3, 4};
    serve(ways, numbers, 5);
}

// MARK: The starting process

int fl_start_line(const struct fl_line *line, pid_t *pid, int *end) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return -errno;
    sockets[1] = fl_moved(sockets[1]);
    if (sockets[1] < 0) {
        const int error = errno;
        close(sockets[0]);
        return -error;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        run(line, sockets[1]);
        _exit(0);
    }
    int result = child < 0 ? -errno : 0, none;
    close(sockets[1]);
    if (child > 0) {
        const int received = fl_receive_number(sockets[0], &result, &none);
        if (received != 0) result = received;
    }
    if (result == 0) {
        *pid = child;
        *end = sockets[0];
        return 0;
    }
    close(sockets[0]);
    int status;
    if (child > 0) fl_wait(child, 0, &status);
    return result;
}
