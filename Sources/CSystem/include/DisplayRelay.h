// A process between a program and its Wayland compositor, which tells when there is something to see.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What it is between. Descriptors that are not there are -1, and so `own` and `original` are empty.
struct fl_display {
    int listener;         // programs connect to it
    char own[108];        // the listener's path, alone in its folder
    char original[108];   // the compositor's
    int program, server;  // a connection that is there already: towards the program; the compositor's
};

struct fl_display fl_display_none(void);
// The compositor's path is noted. 0 or -ENAMETOOLONG.
int fl_display_name(const char *original, struct fl_display *display);
// Makes a folder of ours in `folder` and listens on a socket in it, for us alone. 0 or -errno.
int fl_display_listen(const char *folder, struct fl_display *display);
// A connection that we have inherited (WAYLAND_SOCKET) becomes `server`; under its number there is
// one to `program` now, to be handed on. 0 or -errno.
int fl_display_take_over(int number, struct fl_display *display);
// The descriptors of `display` are closed, its socket and folder removed.
void fl_display_abandon(const struct fl_display *display);
// Whether somebody listens at `path`. 0 or -errno.
int fl_display_try(const char *path);

// What it tells, as `struct fl_relay_news`; each once but for the last.
enum {
    fl_display_configured = 3,  // a top-level surface
    fl_display_framed = 4,      // it was committed with its first buffer
    fl_display_lost = 5,        // a connection could not be followed any further
};

// Starts it. It is nobody's child and outlives us: it ends with the program and all connections.
// When we end, or it has told of a frame, a link to the compositor takes the place of its socket:
// whoever connects then needs nobody between. `display`'s descriptors are its own from then on.
//
// News come from the socket `*control` (fl_relay_news), where it can be asked (fl_relay_ask) to tell
// `fl_relay_drained` as soon as what was sent by then has been looked at. 0 or -errno.
int fl_display_start(const struct fl_display *display, int *control);
// Tells it which process must end before it does.
int fl_display_began(int control, pid_t program);
