// XCB, and the extensions that tell a window's process and what is drawn into it.
#pragma once
#include <xcb/xcb.h>
#include <xcb/damage.h>
#include <xcb/present.h>
#include <xcb/res.h>

// Whether the server knows an extension: a request of one that it lacks ends the connection.
static inline const xcb_query_extension_reply_t *cxcb_extension(
    xcb_connection_t *connection, xcb_extension_t *extension) {
    const xcb_query_extension_reply_t *reply = xcb_get_extension_data(connection, extension);
    return reply != NULL && reply->present != 0 ? reply : NULL;
}

static inline int cxcb_has_resources(xcb_connection_t *connection) {
    return cxcb_extension(connection, &xcb_res_id) != NULL;
}

// The number of Damage's event; 0: the server has no Damage.
static inline int cxcb_damage_event(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = cxcb_extension(connection, &xcb_damage_id);
    return reply == NULL ? 0 : reply->first_event + XCB_DAMAGE_NOTIFY;
}

// The number by which Present's events say whose they are; 0: the server has no Present.
static inline int cxcb_present_opcode(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = cxcb_extension(connection, &xcb_present_id);
    return reply == NULL ? 0 : reply->major_opcode;
}

// Asks for all of them at once.
static inline void cxcb_prefetch_extensions(xcb_connection_t *connection) {
    xcb_prefetch_extension_data(connection, &xcb_res_id);
    xcb_prefetch_extension_data(connection, &xcb_damage_id);
    xcb_prefetch_extension_data(connection, &xcb_present_id);
}
