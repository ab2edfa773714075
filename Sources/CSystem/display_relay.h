// Internal to this module: between the recorder's side of the display relay and its process.
#pragma once

#include "DisplayRelay.h"
#include "Passage.h"
#include "Relay.h"
#include "WaylandWire.h"

struct fl_display_setting {
    struct fl_display display;
    int control;
};

void fl_become_display_relay(const void *setting);

// Connects without waiting. 0 or -errno; -EAGAIN: too many others wait.
int fl_display_connect(const char *path, int *descriptor);
// Replaces our socket by a link to the compositor's, in one step. 0 or -errno.
int fl_display_link(const struct fl_display *display);
// Removes socket and folder. If a process is left whose environment names them, a link stays
// instead.
void fl_display_leave(const struct fl_display *display, int is_linked);
