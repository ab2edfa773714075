// The process between a program and its Wayland compositor. It was forked from a process with
// several threads, so it may only make system calls.
#define _GNU_SOURCE  // here only: in a header it would contradict Swift's Glibc module
#include "display_relay.h"
#include "CSystem.h"
#include "apart.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// A connection of the program, in its own memory.
struct connection {
    struct connection *next;
    int is_connecting;  // the compositor has too many waiting connections
    struct fl_passage passage;
    struct fl_wayland_wire wire;
};

struct relay {
    const struct fl_display *display;
    int listener, control, program;
    struct connection *connections;
    size_t count;  // of them
    int is_linked, is_crowded;
    int told;   // reports sent so far, as bits of fl_wayland_…
    int owed;   // how many more looks until an answer is due; 0: none was requested
    struct pollfd *entries;
    size_t room;  // for entries
};

enum { control_entry, listener_entry, program_entry, first_entry };

// We do not wait for processes that write without end.
enum { most_looks = 1000 };

static void *map(size_t size) {
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: Reports

static void tell(const struct relay *relay, int kind, int64_t time) {
    const struct fl_relay_news news = {.time = time, .kind = kind};
    if (relay->control >= 0)
        (void)!send(relay->control, &news, sizeof news, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_news(struct relay *relay, int found, int64_t time) {
    const int new = found & ~relay->told;
    relay->told |= found & ~fl_wayland_lost;
    if (new & fl_wayland_configured) tell(relay, fl_display_configured, time);
    if (new & fl_wayland_framed) tell(relay, fl_display_framed, time);
    if (new & fl_wayland_lost) tell(relay, fl_display_lost, time);
}

// From now on programs do not have to connect through us. Existing connections, and those by
// another path to our socket, are still served.
static void step_aside(struct relay *relay) {
    if (relay->is_linked || relay->display->own[0] == '\0') return;
    relay->is_linked = fl_display_link(relay->display) == 0;
}

// MARK: Connections

static struct connection *add(struct relay *relay, int program, int server) {
    struct connection *new = map(sizeof *new);
    if (new == NULL) {
        close(program);
        fl_close_if_open(server);
        return NULL;
    }
    new->passage.ends[0] = program;
    new->passage.ends[1] = server;
    new->next = relay->connections;
    relay->connections = new;
    relay->count++;
    return new;
}

static void drop_ended(struct relay *relay) {
    struct connection **place = &relay->connections;
    while (*place != NULL) {
        struct connection *one = *place;
        if (one->is_connecting || !fl_passage_is_over(&one->passage)) {
            place = &one->next;
            continue;
        }
        *place = one->next;
        relay->count--;
        fl_passage_close(&one->passage);
        munmap(one, sizeof *one);
    }
}

// Connects to the compositor, which may have too many waiting connections. If there is none, the
// program sees the end of its connection.
static void connect_on(const struct relay *relay, struct connection *one) {
    const int code = fl_display_connect(relay->display->original, &one->passage.ends[1]);
    one->is_connecting = code == -EAGAIN;
    if (code == 0 || code == -EAGAIN) return;
    one->passage.ways[0].is_told = one->passage.ways[1].is_told = 1;
}

static void accept_all(struct relay *relay) {
    while (1) {
        const int program = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (program < 0 && errno == EINTR) continue;
        if (program < 0) {
            // No descriptor is left: further connections go to the compositor, and these wait until
            // one is free.
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                relay->is_crowded = 1;
                step_aside(relay);
            }
            return;
        }
        struct connection *new = add(relay, program, -1);
        if (new != NULL) connect_on(relay, new);
    }
}

// Passes on the data first, and examines them afterwards, so that the examination delays nothing.
static void move(struct relay *relay, struct connection *one, int side, int may_receive) {
    const size_t received = fl_passage_move(&one->passage, side, may_receive);
    const struct fl_way *way = &one->passage.ways[side];
    if (received == 0 || relay->control < 0 || one->wire.is_over) return;
    const int found = fl_wayland_take(&one->wire, side, way->bytes, received);
    if (found == 0) return;
    tell_news(relay, found, way->time);
    if (found & fl_wayland_framed) step_aside(relay);
}

// MARK: Waiting

// Makes two entries for each connection; false: there is no memory for them.
static int fill_entries(struct relay *relay) {
    const size_t needed = first_entry + 2 * relay->count;
    if (needed > relay->room) {
        struct pollfd *larger = map(2 * needed * sizeof *larger);
        if (larger == NULL) return 0;
        if (relay->room > 0) munmap(relay->entries, relay->room * sizeof *larger);
        relay->entries = larger;
        relay->room = 2 * needed;
    }
    struct pollfd *entries = relay->entries;
    entries[control_entry] = (struct pollfd){.fd = relay->control, .events = POLLIN};
    entries[listener_entry] =
        (struct pollfd){.fd = relay->is_crowded ? -1 : relay->listener, .events = POLLIN};
    entries[program_entry] = (struct pollfd){.fd = relay->program, .events = POLLIN};
    struct pollfd *next = entries + first_entry;
    for (struct connection *one = relay->connections; one != NULL; one = one->next)
        for (int side = 0; side < 2; side++, next++) {
            next->events = one->is_connecting ? 0 : fl_passage_events(&one->passage, side);
            next->fd = next->events == 0 ? -1 : one->passage.ends[side];
            next->revents = 0;
        }
    return 1;
}

// In milliseconds: data that the kernel has no room for now are tried again.
static int patience(const struct relay *relay) {
    if (relay->owed > 0) return 0;
    for (struct connection *one = relay->connections; one != NULL; one = one->next)
        if (one->is_connecting || one->passage.ways[0].is_delayed ||
            one->passage.ways[1].is_delayed)
            return 1;
    return relay->is_crowded ? 100 : -1;
}

static void hear(struct relay *relay) {
    pid_t program;
    const ssize_t count = recv(relay->control, &program, sizeof program, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count == 1) relay->owed = most_looks;
    if (count == sizeof program && relay->program < 0)
        relay->program = (int)syscall(SYS_pidfd_open, program, 0);
    if (count > 0) return;
    // The recorder is gone.
    close(relay->control);
    relay->control = -1;
    relay->owed = 0;
    step_aside(relay);
}

static void serve(struct relay *relay) {
    const struct pollfd *entries = relay->entries + first_entry;
    for (struct connection *one = relay->connections; one != NULL; one = one->next, entries += 2) {
        if (one->is_connecting) {
            connect_on(relay, one);
            continue;
        }
        for (int side = 0; side < 2; side++)
            if (entries[side].revents || entries[!side].revents ||
                one->passage.ways[side].is_delayed)
                move(relay, one, side, entries[side].revents != 0);
    }
}

static void run(struct relay *relay) {
    while (relay->control >= 0 || relay->program >= 0 || relay->connections != NULL) {
        const int is_filled = fill_entries(relay);
        const int pause = patience(relay);
        if (!is_filled || poll(relay->entries, first_entry + 2 * relay->count, pause) < 0) {
            const struct timespec moment = {.tv_nsec = 1000000};
            nanosleep(&moment, NULL);
            continue;
        }
        relay->is_crowded = 0;
        int is_busy = relay->entries[listener_entry].revents != 0;
        for (size_t i = first_entry; i < first_entry + 2 * relay->count; i++)
            is_busy |= relay->entries[i].revents != 0;
        serve(relay);
        if (relay->entries[control_entry].revents) hear(relay);
        else if (relay->owed > 0 && (!is_busy || --relay->owed == 0)) {
            relay->owed = 0;
            tell(relay, fl_relay_drained, now());
        }
        if (relay->entries[program_entry].revents) {
            close(relay->program);
            relay->program = -1;
        }
        if (relay->entries[listener_entry].revents) accept_all(relay);
        drop_ended(relay);
    }
}

// MARK: Its beginning and end

void fl_become_display_relay(const void *argument) {
    const struct fl_display_setting *setting = argument;
    struct relay relay = {.display = &setting->display, .control = 3, .listener = -1, .program = -1};
    const struct fl_display *display = &setting->display;
    dup2(setting->control, 3);
    dup2(display->listener >= 0 ? display->listener : setting->control, 4);
    dup2(display->program >= 0 ? display->program : setting->control, 5);
    dup2(display->server >= 0 ? display->server : setting->control, 6);
    fl_become_apart("display-relay", 4);
    // Room for the descriptors that clients pass.
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (display->listener >= 0) relay.listener = 4;
    else close(4);
    if (display->program >= 0) (void)add(&relay, 5, 6);
    else {
        close(5);
        close(6);
    }
    run(&relay);
    if (display->own[0] != '\0') fl_display_leave(display, relay.is_linked);
}
