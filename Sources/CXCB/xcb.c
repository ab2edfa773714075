#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "CXCB.h"

// MARK: Loading

static cxcb_library library;
static int is_loaded;

static void load(void) {
    void *file = dlopen("libxcb.so.1", RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) return;
    is_loaded = 1;
#define LOAD(name) \
    library.name = (__typeof__(xcb_##name) *)dlsym(file, "xcb_" #name); \
    is_loaded &= library.name != NULL;
    CXCB_FUNCTIONS(LOAD)
#undef LOAD
}

const cxcb_library *cxcb_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? &library : NULL;
}

// MARK: Extensions

static xcb_extension_t resources = {"X-Resource", 0};
static xcb_extension_t damage = {"DAMAGE", 0};
static xcb_extension_t present = {"Present", 0};

void cxcb_prefetch_extensions(xcb_connection_t *connection) {
    library.prefetch_extension_data(connection, &resources);
    library.prefetch_extension_data(connection, &damage);
    library.prefetch_extension_data(connection, &present);
}

// NULL: the server does not know the extension. A request of an unknown extension ends the
// connection.
static const xcb_query_extension_reply_t *known(
    xcb_connection_t *connection, xcb_extension_t *extension) {
    const xcb_query_extension_reply_t *reply = library.get_extension_data(connection, extension);
    return reply != NULL && reply->present != 0 ? reply : NULL;
}

// A request's arguments, behind the four bytes that XCB fills in. Returns the request's number.
static unsigned send_words(
    xcb_connection_t *connection, xcb_extension_t *extension, uint8_t opcode, int has_reply,
    uint32_t first, uint32_t second, uint32_t third, size_t words) {
    uint32_t request[] = {0, first, second, third};
    // XCB uses the two elements before for itself.
    struct iovec parts[3] = {{0}, {0}, {request, 4 * (1 + words)}};
    const xcb_protocol_request_t kind = {
        .count = 1, .ext = extension, .opcode = opcode, .isvoid = !has_reply};
    return library.send_request(connection, 0, parts + 2, &kind);
}

int cxcb_resources_begin(xcb_connection_t *connection) {
    if (known(connection, &resources) == NULL) return 0;
    const uint8_t query_version = 0;
    const uint32_t major = 1, minor = 2;
    const unsigned number =
        send_words(connection, &resources, query_version, 1, major | minor << 8, 0, 0, 1);
    free(library.wait_for_reply(connection, number, NULL));
    return 1;
}

cxcb_client_ids *cxcb_resources_local_process(xcb_connection_t *connection, uint32_t window) {
    const uint8_t query_client_ids = 4;
    const uint32_t one = 1, process = 2;
    const unsigned number =
        send_words(connection, &resources, query_client_ids, 1, one, window, process, 3);
    return library.wait_for_reply(connection, number, NULL);
}

int cxcb_damage_event(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = known(connection, &damage);
    return reply == NULL ? 0 : reply->first_event;
}

int cxcb_present_opcode(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *reply = known(connection, &present);
    return reply == NULL ? 0 : reply->major_opcode;
}

void cxcb_damage_begin(xcb_connection_t *connection) {
    const uint8_t query_version = 0;
    const unsigned number = send_words(connection, &damage, query_version, 1, 1, 1, 0, 2);
    free(library.wait_for_reply(connection, number, NULL));
}

unsigned cxcb_damage_create(xcb_connection_t *connection, uint32_t id, uint32_t window) {
    const uint8_t create = 1, raw_rectangles = 0;
    return send_words(connection, &damage, create, 0, id, window, raw_rectangles, 3);
}

void cxcb_damage_destroy(xcb_connection_t *connection, uint32_t id) {
    const uint8_t destroy = 2;
    send_words(connection, &damage, destroy, 0, id, 0, 0, 1);
}

unsigned cxcb_present_select(
    xcb_connection_t *connection, uint32_t id, uint32_t window, int is_told) {
    const uint8_t select_input = 3;
    const uint32_t complete = 2;
    return send_words(
        connection, &present, select_input, 0, id, window, is_told ? complete : 0, 3);
}
