// A process between a program and its Wayland compositor. It reports when the program has something
// to show.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The ends of the relay. Missing descriptors are -1; then `own` and `original` are empty.
struct fl_display {
    int listener;         // programs connect to it
    char own[108];        // the listener's path, alone in its folder
    char original[108];   // the compositor's
    int program, server;  // an existing connection: towards the program; the compositor's
};

struct fl_display fl_display_none(void);
// Stores the compositor's path. 0 or -ENAMETOOLONG.
int fl_display_name(const char *original, struct fl_display *display);
// Makes our own folder in `folder`, and listens on a socket in it, only for our user. 0 or -errno.
int fl_display_listen(const char *folder, struct fl_display *display);
// Makes an inherited connection (WAYLAND_SOCKET) `server`. Under its number there is now a
// connection to `program`, to be passed on. 0 or -errno.
int fl_display_take_over(int number, struct fl_display *display);
// Closes the descriptors of `display`, and removes its socket and folder.
void fl_display_abandon(const struct fl_display *display);
// Whether a compositor listens at `path`. 0 or -errno.
int fl_display_try(const char *path);

// Its reports, as `struct fl_relay_news`; each comes once, except the last.
enum {
    fl_display_configured = 3,  // a top-level surface
    fl_display_framed = 4,      // it was committed with its first buffer
    fl_display_lost = 5,        // a connection could not be followed any further
};

// Starts the relay. It is not our child and outlives us: it ends with the program and all
// connections. When we end, or when it has reported a frame, a link to the compositor replaces its
// socket: later connections need no relay. It takes over `display`'s descriptors.
//
// Reports come from the socket `*control` (fl_relay_news). There the relay can also be asked
// (fl_relay_ask) to report `fl_relay_drained` once it has examined all data sent before. 0 or
// -errno.
int fl_display_start(const struct fl_display *display, int *control);
// Tells the relay the process that must end before it does.
int fl_display_began(int control, pid_t program);
