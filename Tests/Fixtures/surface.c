// surface [HOW [COUNT]]: a Wayland client without a toolkit. It shows a window of 300 × 200 in shared
// memory, and waits for SIGTERM, which ends it with status 3.
//
// HOW: plain (default): after some 20 ms it makes the surface; after some 50 ms more it has a buffer.
// child: a process that it starts does so. second: another connection was open before, and stays.
// roundtrips: nothing is shown: it asks the compositor COUNT times and waits for each answer, prints
// how long each took on average, in nanoseconds, and ends.
// Truth: asked_at, before the first commit; configured_at, when the compositor's answer is here;
// commit_at, before the commit with a buffer; shown_at, when the compositor says that it was shown
// (CLOCK_MONOTONIC).
#include "fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <wayland-client.h>

#include "xdg-shell-client.h"

static struct wl_compositor *compositor;
static struct wl_shm *memory;
static struct xdg_wm_base *shell;
static int is_configured, is_shown;

static void found(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                  uint32_t version) {
    (void)data, (void)version;
    if (strcmp(interface, "wl_compositor") == 0)
        compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
    if (strcmp(interface, "wl_shm") == 0)
        memory = wl_registry_bind(registry, name, &wl_shm_interface, 1);
    if (strcmp(interface, "xdg_wm_base") == 0)
        shell = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
}

static void gone(void *data, struct wl_registry *registry, uint32_t name) {
    (void)data, (void)registry, (void)name;
}

static void configured(void *data, struct xdg_surface *surface, uint32_t serial) {
    (void)data;
    if (!is_configured) truth_set("configured_at", nanoseconds(CLOCK_MONOTONIC));
    is_configured = 1;
    xdg_surface_ack_configure(surface, serial);
}

static void shown(void *data, struct wl_callback *callback, uint32_t time) {
    (void)data, (void)time;
    truth_set("shown_at", nanoseconds(CLOCK_MONOTONIC));
    is_shown = 1;
    wl_callback_destroy(callback);
}

static void asked(void *data, struct xdg_wm_base *base, uint32_t serial) {
    (void)data;
    xdg_wm_base_pong(base, serial);
}

static void resized(void *data, struct xdg_toplevel *top, int32_t width, int32_t height,
                    struct wl_array *states) {
    (void)data, (void)top, (void)width, (void)height, (void)states;
}

static void closed(void *data, struct xdg_toplevel *top) { (void)data, (void)top; }

static struct wl_buffer *make_buffer(void) {
    const int width = 300, height = 200, size = width * height * 4;
    const int file = memfd_create("surface", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, size) != 0) fail("memfd_create");
    uint32_t *pixels = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pixels == MAP_FAILED) fail("mmap");
    for (int i = 0; i < width * height; i++) pixels[i] = 0xff336699;
    struct wl_shm_pool *pool = wl_shm_create_pool(memory, file, size);
    close(file);
    return wl_shm_pool_create_buffer(pool, 0, width, height, width * 4, WL_SHM_FORMAT_XRGB8888);
}

static void show(struct wl_display *display) {
    static const struct xdg_wm_base_listener shell_listener = {.ping = asked};
    static const struct xdg_surface_listener role_listener = {.configure = configured};
    static const struct xdg_toplevel_listener top_listener = {.configure = resized, .close = closed};
    static const struct wl_callback_listener frame_listener = {.done = shown};
    uint64_t state = 1;
    BURN(state, 20 * ROUNDS_PER_MS);
    xdg_wm_base_add_listener(shell, &shell_listener, NULL);
    struct wl_surface *surface = wl_compositor_create_surface(compositor);
    struct xdg_surface *role = xdg_wm_base_get_xdg_surface(shell, surface);
    xdg_surface_add_listener(role, &role_listener, NULL);
    xdg_toplevel_add_listener(xdg_surface_get_toplevel(role), &top_listener, NULL);
    truth_set("asked_at", nanoseconds(CLOCK_MONOTONIC));
    wl_surface_commit(surface);
    while (!is_configured)
        if (wl_display_dispatch(display) < 0) fail("wl_display_dispatch");
    struct wl_buffer *buffer = make_buffer();
    BURN(state, 50 * ROUNDS_PER_MS);
    wl_surface_attach(surface, buffer, 0, 0);
    wl_surface_damage(surface, 0, 0, 300, 200);
    wl_callback_add_listener(wl_surface_frame(surface), &frame_listener, NULL);
    truth_set("commit_at", nanoseconds(CLOCK_MONOTONIC));
    wl_surface_commit(surface);
    while (!is_shown)
        if (wl_display_dispatch(display) < 0) fail("wl_display_dispatch");
}

static void ask(struct wl_display *display, uint64_t count) {
    const int64_t start = nanoseconds(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < count; i++)
        if (wl_display_roundtrip(display) < 0) fail("wl_display_roundtrip");
    printf("%lld\n", (long long)((nanoseconds(CLOCK_MONOTONIC) - start) / (int64_t)count));
}

static int run(const char *how, uint64_t count) {
    static const struct wl_registry_listener listener = {.global = found, .global_remove = gone};
    struct wl_display *other = strcmp(how, "second") == 0 ? wl_display_connect(NULL) : NULL;
    if (other != NULL) wl_display_roundtrip(other);
    struct wl_display *display = wl_display_connect(NULL);
    if (display == NULL) fail("wl_display_connect");
    wl_registry_add_listener(wl_display_get_registry(display), &listener, NULL);
    wl_display_roundtrip(display);
    if (compositor == NULL || memory == NULL || shell == NULL) fail("the compositor's globals");
    if (strcmp(how, "roundtrips") == 0) {
        ask(display, count);
        return 0;
    }
    show(display);
    truth_write();
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    int number;
    sigwait(&end, &number);
    // The earlier connection still works.
    if (wl_display_roundtrip(display) < 0) fail("wl_display_roundtrip");
    return other != NULL && wl_display_roundtrip(other) < 0 ? 4 : 3;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "plain";
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, NULL);
    if (strcmp(how, "child") != 0) return run(how, count_argument(argc, argv, 2, 1));
    const pid_t child = fork();
    if (child == 0) return run("plain", 1);
    int number, status;
    sigwait(&end, &number);
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}
