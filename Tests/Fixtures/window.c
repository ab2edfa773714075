// window: an X11 client without a toolkit. It makes a window that is never mapped, computes for some
// 50 ms, maps another, and waits for SIGTERM, which ends it with status 3.
// Truth: map_at, before the request; mapped_at, when it heard of it (CLOCK_MONOTONIC).
#include "fixture.h"

#include <signal.h>
#include <xcb/xcb.h>

static xcb_window_t make(xcb_connection_t *server, xcb_screen_t *screen) {
    const uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
    xcb_window_t window = xcb_generate_id(server);
    xcb_create_window(server, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, 200, 100, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, XCB_CW_EVENT_MASK,
                      &events);
    return window;
}

int main(void) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    xcb_connection_t *server = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(server)) fail("xcb_connect");
    xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(server)).data;
    make(server, screen);
    xcb_flush(server);
    uint64_t state = 1;
    BURN(state, 50 * ROUNDS_PER_MS);
    xcb_window_t window = make(server, screen);
    truth_set("map_at", nanoseconds(CLOCK_MONOTONIC));
    xcb_map_window(server, window);
    xcb_flush(server);
    xcb_generic_event_t *event;
    do event = xcb_wait_for_event(server);
    while (event != NULL && (event->response_type & 0x7f) != XCB_MAP_NOTIFY);
    truth_set("mapped_at", nanoseconds(CLOCK_MONOTONIC));
    truth_write();
    int number;
    sigwait(&end, &number);
    return 3;
}
