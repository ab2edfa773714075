#include "WaylandWire.h"

#include <string.h>

// The peers are not trusted: ids are checked before use, and a message that is too short for its
// kind is ignored. The only call made here copies bytes.

enum { header_size = 8, display = 1 };

enum kind {
    kind_none = 0,
    kind_registry,
    kind_compositor,
    kind_surface,
    kind_shell,          // xdg_wm_base
    kind_shell_surface,  // xdg_surface; its parent is the wl_surface
    kind_toplevel,       // xdg_toplevel; its parent is the xdg_surface
};

// A message: the part that was kept.
struct message {
    uint32_t object, opcode;
    const unsigned char *arguments;
    size_t count;  // in bytes
};

static uint32_t word_at(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// 0 if there is none: no id is 0.
static uint32_t argument(const struct message *message, size_t index) {
    return 4 * index + 4 <= message->count ? word_at(message->arguments + 4 * index) : 0;
}

static struct fl_wayland_object *object(struct fl_wayland_wire *wire, uint32_t id) {
    return id < FL_WAYLAND_OBJECTS ? &wire->objects[id] : NULL;
}

static struct fl_wayland_object *known(struct fl_wayland_wire *wire, uint32_t id, enum kind kind) {
    struct fl_wayland_object *found = object(wire, id);
    return found != NULL && found->kind == kind ? found : NULL;
}

static int lose(struct fl_wayland_wire *wire) {
    wire->is_over = 1;
    return fl_wayland_lost;
}

static int create(struct fl_wayland_wire *wire, uint32_t id, enum kind kind, uint32_t parent) {
    struct fl_wayland_object *new = object(wire, id);
    if (new == NULL) return lose(wire);
    if (id > display)
        *new = (struct fl_wayland_object){.kind = (uint8_t)kind, .parent = parent};
    return 0;
}

static void forget(struct fl_wayland_wire *wire, uint32_t id) {
    struct fl_wayland_object *old = object(wire, id);
    if (old != NULL) *old = (struct fl_wayland_object){.kind = kind_none};
}

static int configure(struct fl_wayland_wire *wire) {
    if (wire->is_configured) return 0;
    wire->is_configured = 1;
    return fl_wayland_configured;
}

// wl_registry.bind(name, interface, version, id). A string is its length including the final zero,
// and is padded to words.
static int bind_global(struct fl_wayland_wire *wire, const struct message *message) {
    static const struct {
        char name[16];
        enum kind kind;
    } interfaces[] = {{"wl_compositor", kind_compositor}, {"xdg_wm_base", kind_shell}};
    const size_t length = argument(message, 1);
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++) {
        if (length != strlen(interfaces[i].name) + 1 || 8 + length > message->count ||
            memcmp(message->arguments + 8, interfaces[i].name, length) != 0)
            continue;
        return create(wire, argument(message, 2 + (length + 3) / 4 + 1), interfaces[i].kind, 0);
    }
    return 0;
}

static void set_toplevel(struct fl_wayland_wire *wire, uint32_t shell_surface, uint8_t value) {
    struct fl_wayland_object *role = known(wire, shell_surface, kind_shell_surface);
    if (role == NULL) return;
    role->is_toplevel = value;
    struct fl_wayland_object *surface = known(wire, role->parent, kind_surface);
    if (surface != NULL) surface->is_toplevel = value;
}

static int take_surface_request(
    struct fl_wayland_wire *wire, struct fl_wayland_object *surface,
    const struct message *message) {
    enum { destroy = 0, attach = 1, commit = 6 };
    switch (message->opcode) {
    case destroy: forget(wire, message->object); break;
    case attach: surface->has_buffer = argument(message, 0) != 0; break;
    case commit:
        if (surface->is_toplevel && surface->has_buffer) {
            wire->is_over = 1;
            return fl_wayland_framed;
        }
        surface->has_buffer = 0;
        break;
    default: break;
    }
    return 0;
}

static int take_shell_surface_request(
    struct fl_wayland_wire *wire, struct fl_wayland_object *role, const struct message *message) {
    enum { destroy = 0, get_toplevel = 1, ack_configure = 4 };
    switch (message->opcode) {
    case destroy: forget(wire, message->object); break;
    case get_toplevel:
        set_toplevel(wire, message->object, 1);
        return create(wire, argument(message, 0), kind_toplevel, message->object);
    // The event itself has counted, unless the compositor's side cannot be followed.
    case ack_configure: return role->is_toplevel ? configure(wire) : 0;
    default: break;
    }
    return 0;
}

static int take_request(struct fl_wayland_wire *wire, const struct message *message) {
    enum { get_registry = 1, bind = 0, create_surface = 0, release = 2, get_xdg_surface = 2 };
    if (message->object == display)
        return message->opcode == get_registry
                   ? create(wire, argument(message, 0), kind_registry, 0)
                   : 0;
    struct fl_wayland_object *target = object(wire, message->object);
    if (target == NULL) return 0;
    switch ((enum kind)target->kind) {
    case kind_none: break;
    case kind_registry: return message->opcode == bind ? bind_global(wire, message) : 0;
    case kind_compositor:
        if (message->opcode == create_surface)
            return create(wire, argument(message, 0), kind_surface, 0);
        if (message->opcode == release) forget(wire, message->object);
        break;
    case kind_shell:
        if (message->opcode == get_xdg_surface)
            return create(
                wire, argument(message, 0), kind_shell_surface, argument(message, 1));
        if (message->opcode == 0) forget(wire, message->object);
        break;
    case kind_surface: return take_surface_request(wire, target, message);
    case kind_shell_surface: return take_shell_surface_request(wire, target, message);
    case kind_toplevel:
        if (message->opcode != 0) break;
        set_toplevel(wire, target->parent, 0);
        forget(wire, message->object);
        break;
    }
    return 0;
}

static int take_event(struct fl_wayland_wire *wire, const struct message *message) {
    enum { delete_id = 1, shell_surface_configure = 0 };
    if (message->object == display) {
        // From here on the client may reuse that id.
        if (message->opcode == delete_id) forget(wire, argument(message, 0));
        return 0;
    }
    const struct fl_wayland_object *role = known(wire, message->object, kind_shell_surface);
    return role != NULL && role->is_toplevel && message->opcode == shell_surface_configure
               ? configure(wire)
               : 0;
}

static int take_message(
    struct fl_wayland_wire *wire, int direction, const struct fl_wayland_stream *stream) {
    const uint32_t kept = stream->size < FL_WAYLAND_KEPT ? stream->size : FL_WAYLAND_KEPT;
    const struct message message = {
        .object = word_at(stream->start),
        .opcode = word_at(stream->start + 4) & 0xffff,
        .arguments = stream->start + header_size,
        .count = kept - header_size,
    };
    return direction == fl_wayland_requests ? take_request(wire, &message)
                                            : take_event(wire, &message);
}

// Consumes up to `wanted` bytes of the message, and keeps the first ones. Returns how many.
static size_t receive(
    struct fl_wayland_stream *stream, const unsigned char *bytes, size_t count, size_t wanted) {
    const size_t taken = count < wanted ? count : wanted;
    if (stream->received < FL_WAYLAND_KEPT) {
        const size_t room = FL_WAYLAND_KEPT - stream->received;
        memcpy(stream->start + stream->received, bytes, taken < room ? taken : room);
    }
    stream->received += (uint32_t)taken;
    return taken;
}

int fl_wayland_take(struct fl_wayland_wire *wire, int direction, const void *start, size_t count) {
    const unsigned char *bytes = start;
    struct fl_wayland_stream *stream = &wire->streams[direction == fl_wayland_events];
    int news = 0;
    while (count > 0 && !wire->is_over) {
        const uint32_t end = stream->size == 0 ? header_size : stream->size;
        const size_t taken = receive(stream, bytes, count, end - stream->received);
        bytes += taken;
        count -= taken;
        if (stream->received < end) break;
        if (stream->size == 0) {
            stream->size = word_at(stream->start + 4) >> 16;
            // The beginning of the next message is unknown.
            if (stream->size < header_size) return news | lose(wire);
            if (stream->size > header_size) continue;
        }
        news |= take_message(wire, direction, stream);
        stream->received = stream->size = 0;
    }
    return news;
}
