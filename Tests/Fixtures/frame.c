// frame HOW: an X11 client without a toolkit. It maps a window of 300 × 200, waits until it is exposed,
// computes for some 50 ms, draws into it, and waits for SIGTERM, which ends it with status 3.
//
// HOW: plain: its background is painted by the server. bare: it has none. child: another window, with a
// background, covers it, and is drawn into. resized: it grows twice meanwhile, which the server paints.
// at-once: it is drawn into right behind the request to map it. hidden: as plain, and a window that is
// never mapped is drawn into before. presented: a picture is presented instead (Present).
// Truth: map_at, before the request; draw_at, before drawing; drawn_at, when the server has done it
// (CLOCK_MONOTONIC).
#include "fixture.h"

#include <signal.h>
#include <sys/uio.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

static xcb_connection_t *server;
static xcb_screen_t *screen;

static xcb_window_t make(xcb_window_t parent, int has_background) {
    const uint32_t values[] = {0x336699, XCB_EVENT_MASK_EXPOSURE};
    const uint32_t bare[] = {XCB_BACK_PIXMAP_NONE, XCB_EVENT_MASK_EXPOSURE};
    xcb_window_t window = xcb_generate_id(server);
    xcb_create_window(server, XCB_COPY_FROM_PARENT, window, parent, 20, 10, 300, 200, 2,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
                      (has_background ? XCB_CW_BACK_PIXEL : XCB_CW_BACK_PIXMAP) |
                          XCB_CW_EVENT_MASK,
                      has_background ? values : bare);
    return window;
}

static void synchronize(void) {
    free(xcb_get_input_focus_reply(server, xcb_get_input_focus(server), NULL));
}

static void await_expose(xcb_window_t window) {
    while (1) {
        xcb_generic_event_t *event = xcb_wait_for_event(server);
        if (event == NULL) fail("xcb_wait_for_event");
        const int is_it = (event->response_type & 0x7f) == XCB_EXPOSE &&
                          ((xcb_expose_event_t *)event)->window == window;
        free(event);
        if (is_it) return;
    }
}

static void draw(xcb_drawable_t drawable) {
    const xcb_gcontext_t context = xcb_generate_id(server);
    const xcb_rectangle_t rectangle = {5, 5, 40, 30};
    const uint32_t colour = 0xffffff;
    xcb_create_gc(server, context, drawable, XCB_GC_FOREGROUND, &colour);
    xcb_poly_fill_rectangle(server, drawable, context, 1, &rectangle);
}

static void present(xcb_window_t window) {
    const xcb_pixmap_t picture = xcb_generate_id(server);
    xcb_create_pixmap(server, screen->root_depth, picture, window, 300, 200);
    draw(picture);
    synchronize();
    // PresentPixmap of Present 1.0: at once, at the next refresh of the screen.
    static xcb_extension_t extension = {"Present", 0};
    uint32_t request[18] = {0, window, picture};
    const uint32_t copy = 2;
    request[10] = copy;
    struct iovec parts[3] = {{0}, {0}, {request, sizeof request}};
    const xcb_protocol_request_t kind = {.count = 1, .ext = &extension, .opcode = 1, .isvoid = 1};
    xcb_send_request(server, 0, parts + 2, &kind);
}

static void grow(xcb_window_t window, uint32_t width) {
    xcb_configure_window(server, window, XCB_CONFIG_WINDOW_WIDTH, &width);
    synchronize();
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "plain";
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    server = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(server)) fail("xcb_connect");
    screen = xcb_setup_roots_iterator(xcb_get_setup(server)).data;
    const xcb_window_t window = make(screen->root, strcmp(how, "bare") != 0);
    xcb_window_t target = window;
    if (strcmp(how, "child") == 0) {
        target = make(window, 1);
        xcb_map_window(server, target);
    }
    if (strcmp(how, "hidden") == 0) {
        const xcb_window_t other = make(screen->root, 1);
        draw(other);
    }
    synchronize();
    uint64_t state = 1;
    BURN(state, 20 * ROUNDS_PER_MS);
    truth_set("map_at", nanoseconds(CLOCK_MONOTONIC));
    xcb_map_window(server, window);
    if (strcmp(how, "at-once") != 0) {
        xcb_flush(server);
        await_expose(target);
        BURN(state, 50 * ROUNDS_PER_MS);
    }
    if (strcmp(how, "resized") == 0) {
        grow(window, 400);
        BURN(state, 10 * ROUNDS_PER_MS);
        grow(window, 500);
        BURN(state, 10 * ROUNDS_PER_MS);
    }
    truth_set("draw_at", nanoseconds(CLOCK_MONOTONIC));
    if (strcmp(how, "presented") == 0) present(target);
    else draw(target);
    synchronize();
    truth_set("drawn_at", nanoseconds(CLOCK_MONOTONIC));
    truth_write();
    int number;
    sigwait(&end, &number);
    return 3;
}
