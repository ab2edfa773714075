// Reads the traffic between a Wayland client and its compositor, just enough to know when a
// top-level surface is configured and when it has its first buffer.
//
// The wire: https://wayland.freedesktop.org/docs/html/ch04.html#sect-Protocol-Wire-Format
// Opcodes: wayland.xml and the stable xdg-shell.xml.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Clients give ids from 2 on without gaps. A client with more objects than this is not followed.
#define FL_WAYLAND_OBJECTS 16384
// How much of a message is kept: the wl_registry.bind requests that we know are shorter.
#define FL_WAYLAND_KEPT 64

// The direction of a message.
enum { fl_wayland_requests = 0, fl_wayland_events = 1 };

// The news, as bits.
enum {
    fl_wayland_configured = 1,  // a top-level surface
    fl_wayland_framed = 2,      // it was committed with its first buffer
    fl_wayland_lost = 4,        // this is not Wayland, or more than we can follow
};

struct fl_wayland_object {
    uint8_t kind;
    uint8_t is_toplevel, has_buffer;
    uint32_t parent;  // a role's surface
};

// One direction: the message that is being received.
struct fl_wayland_stream {
    uint32_t received;  // how many of its bytes
    uint32_t size;      // the size of all of it; 0: not known yet
    unsigned char start[FL_WAYLAND_KEPT];
};

// One connection.
struct fl_wayland_wire {
    int32_t is_over;  // framed, or lost: nothing more is examined
    int32_t is_configured;
    struct fl_wayland_stream streams[2];
    struct fl_wayland_object objects[FL_WAYLAND_OBJECTS];
};

// A connection begins with all zeros. Examines the next bytes of one direction, however they are
// cut. Returns news as bits; each once.
int fl_wayland_take(struct fl_wayland_wire *wire, int direction, const void *bytes, size_t count);
