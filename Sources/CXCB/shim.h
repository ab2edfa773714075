// XCB, and the extensions that tell a window's process and what is drawn into it.
#pragma once
#include <sys/uio.h>
#include <xcb/res.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// Whether the server knows an extension: a request of one that it lacks ends the connection.
static inline const xcb_query_extension_reply_t *cxcb_extension(
    xcb_connection_t *connection, xcb_extension_t *extension) {
    const xcb_query_extension_reply_t *reply = xcb_get_extension_data(connection, extension);
    return reply != NULL && reply->present != 0 ? reply : NULL;
}

static inline int cxcb_has_resources(xcb_connection_t *connection) {
    return cxcb_extension(connection, &xcb_res_id) != NULL;
}

// MARK: Damage 1.1 and Present 1.0. Of each it takes a request or two: no library for that.

static xcb_extension_t cxcb_damage_id = {"DAMAGE", 0};
static xcb_extension_t cxcb_present_id = {"Present", 0};

// The number of Damage's one event; 0: the server has no Damage.
static inline int cxcb_damage_event(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = cxcb_extension(connection, &cxcb_damage_id);
    return reply == NULL ? 0 : reply->first_event;
}

// The number by which Present's events say whose they are; 0: the server has no Present.
static inline int cxcb_present_opcode(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = cxcb_extension(connection, &cxcb_present_id);
    return reply == NULL ? 0 : reply->major_opcode;
}

// Asks for all of them at once.
static inline void cxcb_prefetch_extensions(xcb_connection_t *connection) {
    xcb_prefetch_extension_data(connection, &xcb_res_id);
    xcb_prefetch_extension_data(connection, &cxcb_damage_id);
    xcb_prefetch_extension_data(connection, &cxcb_present_id);
}

// A request's arguments, behind the four bytes that XCB fills in. The request's number.
static inline unsigned cxcb_send(
    xcb_connection_t *connection, xcb_extension_t *extension, uint8_t opcode, int has_reply,
    uint32_t first, uint32_t second, uint32_t third, size_t words) {
    uint32_t request[] = {0, first, second, third};
    // XCB uses the two before for itself.
    struct iovec parts[3] = {{0}, {0}, {request, 4 * (1 + words)}};
    const xcb_protocol_request_t kind = {
        .count = 1, .ext = extension, .opcode = opcode, .isvoid = !has_reply};
    return xcb_send_request(connection, 0, parts + 2, &kind);
}

// Without this the server refuses all the rest. Waits for the answer.
static inline void *cxcb_damage_begin(xcb_connection_t *connection) {
    const uint8_t query_version = 0;
    const unsigned number = cxcb_send(connection, &cxcb_damage_id, query_version, 1, 1, 1, 0, 2);
    return xcb_wait_for_reply(connection, number, NULL);
}

// Each drawing into a window is told. The request's number.
static inline unsigned cxcb_damage_create(xcb_connection_t *connection, uint32_t id, uint32_t window) {
    const uint8_t create = 1, raw_rectangles = 0;
    return cxcb_send(connection, &cxcb_damage_id, create, 0, id, window, raw_rectangles, 3);
}

static inline void cxcb_damage_destroy(xcb_connection_t *connection, uint32_t id) {
    const uint8_t destroy = 2;
    cxcb_send(connection, &cxcb_damage_id, destroy, 0, id, 0, 0, 1);
}

// Each picture that is presented in a window is told, or none any more. The request's number.
static inline unsigned cxcb_present_select(
    xcb_connection_t *connection, uint32_t id, uint32_t window, int is_told) {
    const uint8_t select_input = 3;
    const uint32_t complete = 2;
    return cxcb_send(connection, &cxcb_present_id, select_input, 0, id, window,
                     is_told ? complete : 0, 3);
}

// DamageNotify.
struct cxcb_damage {
    uint8_t response_type, level;
    uint16_t sequence;
    uint32_t drawable, damage;
};

// PresentCompleteNotify.
struct cxcb_presented {
    uint8_t response_type, extension;
    uint16_t sequence;
    uint32_t length;
    uint16_t event_type;
    uint8_t kind, mode;
    uint32_t event, window;
};
enum { cxcb_present_complete = 1, cxcb_present_pixmap = 0 };
