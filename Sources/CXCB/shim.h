// XCB, and the one extension that tells a window's process.
#pragma once
#include <xcb/xcb.h>
#include <xcb/res.h>

// Whether the server knows X-Resource: a request of an extension that it lacks ends the connection.
static inline int cxcb_has_resources(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = xcb_get_extension_data(connection, &xcb_res_id);
    return reply != NULL && reply->present != 0;
}
