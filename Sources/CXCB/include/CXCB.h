// XCB, loaded when a window is watched, and the extensions that report a window's process and the
// drawing into it.
#ifndef FIRSTLIGHT_XCB_H
#define FIRSTLIGHT_XCB_H

#include <xcb/xcb.h>
#include <xcb/xcbext.h>

// XCB's functions that are used, without their prefix.
#define CXCB_FUNCTIONS(entry) \
    entry(change_window_attributes) \
    entry(connect) \
    entry(connection_has_error) \
    entry(discard_reply) \
    entry(disconnect) \
    entry(flush) \
    entry(generate_id) \
    entry(get_extension_data) \
    entry(get_file_descriptor) \
    entry(get_geometry) \
    entry(get_geometry_reply) \
    entry(get_image) \
    entry(get_image_data) \
    entry(get_image_data_length) \
    entry(get_image_reply) \
    entry(get_input_focus) \
    entry(get_input_focus_reply) \
    entry(get_property) \
    entry(get_property_reply) \
    entry(get_property_value) \
    entry(get_property_value_length) \
    entry(get_setup) \
    entry(get_window_attributes) \
    entry(get_window_attributes_reply) \
    entry(intern_atom) \
    entry(intern_atom_reply) \
    entry(poll_for_queued_event) \
    entry(prefetch_extension_data) \
    entry(query_tree) \
    entry(query_tree_children) \
    entry(query_tree_children_length) \
    entry(query_tree_reply) \
    entry(screen_next) \
    entry(send_request) \
    entry(setup_roots_iterator) \
    entry(translate_coordinates) \
    entry(translate_coordinates_reply) \
    entry(wait_for_event) \
    entry(wait_for_reply)

// The types are those of XCB's own declarations.
typedef struct {
#define CXCB_POINTER(name) __typeof__(xcb_##name) *_Nonnull name;
    CXCB_FUNCTIONS(CXCB_POINTER)
#undef CXCB_POINTER
} cxcb_library;

// Loads libxcb.so.1, once. NULL: it cannot be loaded. It is never unloaded. Everything below is for
// connections that it has made.
const cxcb_library *_Nullable cxcb_load(void);

// Asks for the extensions below all at once.
void cxcb_prefetch_extensions(xcb_connection_t *_Nonnull connection);

// MARK: X-Resource 1.2, Damage 1.1 and Present 1.0. We need a request or two of each, so we load no
// libraries for them.

// Sends the server our version, and waits for its answer. 0: the server has no X-Resource.
int cxcb_resources_begin(xcb_connection_t *_Nonnull connection);

// The head of an answer that CLIENTIDVALUEs follow.
typedef struct {
    uint8_t response_type, unused;
    uint16_t sequence;
    // The length of the data that follow, in words.
    uint32_t length;
    uint32_t count;
    uint32_t unused_words[5];
} cxcb_client_ids;

// Asks for the process at the other end of the connection, if that is local, of the client that
// owns the window. Waits for the answer: malloced. NULL: there is none.
cxcb_client_ids *_Nullable cxcb_resources_local_process(
    xcb_connection_t *_Nonnull connection, uint32_t window);

// The number of Damage's one event; 0: the server has no Damage.
int cxcb_damage_event(xcb_connection_t *_Nonnull connection);

// The number by which Present's events name their extension; 0: the server has no Present.
int cxcb_present_opcode(xcb_connection_t *_Nonnull connection);

// Without this request the server refuses all others. Waits for the answer.
void cxcb_damage_begin(xcb_connection_t *_Nonnull connection);

// Requests an event for each drawing into a window. The request's number.
unsigned cxcb_damage_create(
    xcb_connection_t *_Nonnull connection, uint32_t id, uint32_t window);

void cxcb_damage_destroy(xcb_connection_t *_Nonnull connection, uint32_t id);

// Requests an event for each picture that is presented in a window, or stops them. The request's
// number.
unsigned cxcb_present_select(
    xcb_connection_t *_Nonnull connection, uint32_t id, uint32_t window, int is_told);

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

#endif
