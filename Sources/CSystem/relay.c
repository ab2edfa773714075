#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "CSystem.h"
#include "Relay.h"
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

int fl_same_stream(int left, int right) {
    struct stat a, b;
    if (fl_is_missing_stream(left) || fl_is_missing_stream(right)) return 0;
    if (fstat(left, &a) != 0 || fstat(right, &b) != 0) return 0;
    const int KCMP_FILE_ = 0;
    if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE_, left, right) == 0) return 1;
    if (S_ISCHR(a.st_mode) && S_ISCHR(b.st_mode)) return a.st_rdev == b.st_rdev;
    // Two openings of one file have separate positions.
    return !S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int fl_stream_kind(int descriptor) {
    struct stat status;
    if (fl_is_missing_stream(descriptor) || fstat(descriptor, &status) != 0) return fl_stream_none;
    if (S_ISREG(status.st_mode)) return fl_stream_file;
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(descriptor))
        return fl_stream_relayed;
    // /dev/null takes everything.
    return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3) ? fl_stream_relayed
                                                                      : fl_stream_other;
}

// MARK: Looking for a text

int fl_search_begin(struct fl_search *search, const void *text, size_t length) {
    if (length > FL_RELAY_TEXT_LIMIT) return -E2BIG;
    *search = (struct fl_search){.length = length};
    memcpy(search->text, text, length);
    size_t border = 0;
    for (size_t i = 1; i < search->length; i++) {
        while (border > 0 && search->text[i] != search->text[border])
            border = search->failure[border - 1];
        if (search->text[i] == search->text[border]) border++;
        search->failure[i] = (uint16_t)border;
    }
    return 0;
}

int fl_search_finds(struct fl_search *search, const void *start, size_t count) {
    const unsigned char *bytes = start;
    if (search->is_over || count == 0) return 0;
    for (size_t i = 0; i < count && search->matched < search->length; i++) {
        while (search->matched > 0 && bytes[i] != search->text[search->matched])
            search->matched = search->failure[search->matched - 1];
        if (bytes[i] == search->text[search->matched]) search->matched++;
    }
    search->is_over = search->matched == search->length;
    return search->is_over;
}

// MARK: The relaying process. It was forked from a process with several threads: system calls only.

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void tell(int control, int kind, int64_t time) {
    struct fl_relay_news news = {.time = time, .kind = kind};
    if (control >= 0) (void)!send(control, &news, sizeof news, MSG_NOSIGNAL);
}

// False: there is no reader any more.
static int pass_on(int output, const unsigned char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(output, bytes, count);
        if (written >= 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (errno == EAGAIN) {
            // Another process that shares it has made it non-blocking.
            struct pollfd entry = {.fd = output, .events = POLLOUT};
            poll(&entry, 1, -1);
        } else if (errno != EINTR) {
            return 0;
        }
    }
    return 1;
}

// Whether another reader may follow the present one: for a named pipe.
static int is_reopened(int output) {
    const long PIPEFS = 0x50495045;
    struct stat status;
    struct statfs system;
    return fstat(output, &status) == 0 && S_ISFIFO(status.st_mode) &&
           fstatfs(output, &system) == 0 && system.f_type != PIPEFS;
}

static int has_more(int input) {
    struct pollfd entry = {.fd = input, .events = POLLIN};
    return poll(&entry, 1, 0) > 0 && (entry.revents & POLLIN) != 0;
}

// How many bytes are under way, or a larger number.
static ssize_t waiting(int input) {
    int count;
    // A terminal counts only what a reader could read now. It holds less than this.
    if (isatty(input) || ioctl(input, FIONREAD, &count) != 0) return 1 << 16;
    return count;
}

static void follow_size(int resized, int output, int input) {
    struct signalfd_siginfo info;
    struct winsize size, known;
    while (resized >= 0 && read(resized, &info, sizeof info) == sizeof info) {}
    if (ioctl(output, TIOCGWINSZ, &size) != 0 || ioctl(input, TIOCGWINSZ, &known) != 0 ||
        memcmp(&size, &known, sizeof size) == 0 || ioctl(input, TIOCSWINSZ, &size) != 0)
        return;
    // The program may have been notified before, and have seen the old size.
    const pid_t group = tcgetpgrp(output);
    if (group > 1) kill(-group, SIGWINCH);
}

static void relay(int input, int output, int control, int resized, struct fl_search *search) {
    static unsigned char buffer[65536];
    const int watched = is_reopened(output) ? -1 : output;
    int is_asked = 0;
    ssize_t owed = 0;  // bytes that the answer waits for: writers may go on without end
    while (1) {
        struct pollfd entries[] = {
            {.fd = input, .events = POLLIN},
            {.fd = watched, .events = 0},  // reports when there is no reader any more
            {.fd = control, .events = POLLIN},
            {.fd = resized, .events = POLLIN},
        };
        if (poll(entries, 4, -1) < 0) continue;
        // POLLHUP: a terminal that was hung up, or a socket that is shut down both ways.
        if (entries[1].revents & (POLLERR | POLLHUP | POLLNVAL)) return;
        if (entries[3].revents & POLLIN) follow_size(resized, output, input);
        if (entries[2].revents) {
            char byte;
            const ssize_t count = recv(control, &byte, 1, MSG_DONTWAIT);
            if (count > 0) {
                is_asked = 1;
                owed = waiting(input);
            }
            // 0: the recorder is gone; then `errno` is an old value.
            if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) control = -1;
        }
        if (entries[0].revents) {
            const int64_t time = now();
            ssize_t count = read(input, buffer, sizeof buffer);
            if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
            if (count <= 0) return;  // a terminal's end is EIO
            // We get no signal if we are outside the terminal's foreground.
            if (resized >= 0) follow_size(resized, output, input);
            const int has_found = fl_search_finds(search, buffer, (size_t)count);
            if (!pass_on(output, buffer, (size_t)count)) return;
            owed -= count;
            if (has_found) tell(control, fl_relay_found, time);
        }
        if (is_asked && (owed <= 0 || !has_more(input))) {
            is_asked = 0;
            tell(control, fl_relay_drained, now());
        }
    }
}

// The arguments of a relay.
struct relay_start {
    int input, output, control, is_terminal;
    struct fl_search *search;
};

static void become_relay(const void *argument) {
    const struct relay_start *start = argument;
    sigset_t resize;
    dup2(start->input, 3);
    dup2(start->output, 4);
    dup2(start->control, 5);
    fl_become_apart("output-relay", 3);
    sigemptyset(&resize);
    sigaddset(&resize, SIGWINCH);
    const int resized =
        start->is_terminal ? signalfd(-1, &resize, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
    relay(3, 4, 5, resized, start->search);
}

// MARK: The recorder's side

// The output must be exactly the bytes that were written: the terminal itself adds its carriage
// returns.
static int open_terminal(int original, int ends[2]) {
    struct termios attributes;
    struct winsize size;
    char name[64];
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0) return -1;
    ends[1] = grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 &&
                      ptsname_r(ends[0], name, sizeof name) == 0
                  ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
                  : -1;
    if (ends[1] < 0) {
        int error = errno;
        close(ends[0]);
        errno = error;
        return -1;
    }
    if (tcgetattr(original, &attributes) == 0) {
        attributes.c_oflag &= ~(tcflag_t)OPOST;
        attributes.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(ends[1], TCSANOW, &attributes);
    }
    if (ioctl(original, TIOCGWINSZ, &size) == 0) ioctl(ends[0], TIOCSWINSZ, &size);
    return 0;
}

int fl_relay_start(int original, const void *text, size_t length, int *input, int *control) {
    struct fl_search search;
    if (fl_search_begin(&search, text, length) != 0) return -E2BIG;
    const int is_terminal = isatty(original);
    int ends[2], sockets[2];
    if ((is_terminal ? open_terminal(original, ends) : pipe2(ends, O_CLOEXEC)) != 0) return -errno;
    ends[0] = fl_moved(ends[0]);
    ends[1] = fl_moved(ends[1]);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    sockets[0] = fl_moved(sockets[0]);
    sockets[1] = fl_moved(sockets[1]);
    const int output = fcntl(original, F_DUPFD_CLOEXEC, 16);
    // If few descriptors are allowed and one is missing, the relay would read another file.
    const int is_whole =
        output >= 0 && ends[0] >= 0 && ends[1] >= 0 && sockets[0] >= 0 && sockets[1] >= 0;
    const struct relay_start start = {ends[0], output, sockets[1], is_terminal, &search};
    const int error = is_whole ? fl_start_apart(become_relay, &start) : -EMFILE;
    fl_close_if_open(ends[0]);
    fl_close_if_open(sockets[1]);
    fl_close_if_open(output);
    if (error != 0) {
        fl_close_if_open(ends[1]);
        fl_close_if_open(sockets[0]);
        return error;
    }
    *input = ends[1];
    *control = sockets[0];
    return 0;
}

int fl_relay_news(int control, struct fl_relay_news *news) {
    ssize_t count = recv(control, news, sizeof *news, MSG_DONTWAIT);
    // A relay that ended before it read our question: this error comes first, and its news after
    // it.
    if (count < 0 && errno == ECONNRESET) count = recv(control, news, sizeof *news, MSG_DONTWAIT);
    if (count == sizeof *news) return 1;
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    return count < 0 ? -errno : -EPIPE;
}

int fl_relay_ask(int control) {
    return send(control, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}
