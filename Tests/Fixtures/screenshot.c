// screenshot: an X11 client that looks at the whole screen again and again, prints "ready" at the
// first look, and, at the first that differs from it, when that was asked for and when it was here, and when the
// last that did not was asked for (CLOCK_MONOTONIC, nanoseconds). For Benchmarks/first_frame.py.
#include "fixture.h"

#include <xcb/xcb.h>

int main(void) {
    xcb_connection_t *server = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(server)) fail("xcb_connect");
    const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(server)).data;
    xcb_get_image_reply_t *first = NULL;
    int64_t before = 0;
    while (1) {
        const int64_t asked = nanoseconds(CLOCK_MONOTONIC);
        xcb_get_image_reply_t *image = xcb_get_image_reply(
            server,
            xcb_get_image(server, XCB_IMAGE_FORMAT_Z_PIXMAP, screen->root, 0, 0,
                          screen->width_in_pixels, screen->height_in_pixels, ~0u),
            NULL);
        if (image == NULL) fail("xcb_get_image");
        const int64_t here = nanoseconds(CLOCK_MONOTONIC);
        if (first == NULL) {
            first = image;
            printf("ready\n");
            fflush(stdout);
        } else {
            const size_t size = (size_t)xcb_get_image_data_length(first);
            if (memcmp(xcb_get_image_data(first), xcb_get_image_data(image), size) != 0) {
                printf("%lld %lld %lld\n", (long long)before, (long long)asked, (long long)here);
                return 0;
            }
            free(image);
        }
        before = asked;
    }
}
