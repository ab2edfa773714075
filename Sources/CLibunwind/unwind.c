#include "CLibunwind.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Exported for programs with tables of their own, but declared nowhere.
#define unw_dwarf_search_unwind_table UNW_OBJ(dwarf_search_unwind_table)
extern int unw_dwarf_search_unwind_table(
    unw_addr_space_t space, unw_word_t address, unw_dyn_info_t *info, unw_proc_info_t *found,
    int needs_info, void *argument);

// MARK: Loading

// libunwind's functions that are used, without their prefix.
#define FUNCTIONS(entry) \
    entry(create_addr_space) \
    entry(destroy_addr_space) \
    entry(dwarf_search_unwind_table) \
    entry(flush_cache) \
    entry(get_reg) \
    entry(init_remote) \
    entry(is_signal_frame) \
    entry(set_caching_policy) \
    entry(step)

// The types are those of libunwind's own declarations.
static struct {
#define POINTER(name) __typeof__(unw_##name) *name;
    FUNCTIONS(POINTER)
} unw;
static int is_loaded;

// The name of a function in the library, where it has the processor's name in it.
#define STRING(text) #text
#define NAME(function) STRING(function)

static void load(void) {
    void *file = dlopen(FL_LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) return;
    is_loaded = 1;
#define LOAD(name) \
    unw.name = (__typeof__(unw_##name) *)dlsym(file, NAME(unw_##name)); \
    is_loaded &= unw.name != NULL;
    FUNCTIONS(LOAD)
}

int fl_library_is_loadable(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

// MARK: Answers

struct fl_library {
    unw_addr_space_t space;
    const fl_library_source *source;
    void *context;
    uint64_t reads;
    // Whether a function's entry is being read. It names variables of the program's, by which an
    // exception would find its handler: their values are not needed.
    int finds_entry;
    // A sorted table with one entry, which the caller has found.
    uint32_t table[2];
};

// The address that libunwind gets for that table: nothing of the process can be there.
static const unw_word_t table_address = (unw_word_t)1 << 63;

static int read_word(
    unw_addr_space_t space, unw_word_t address, unw_word_t *value, int writes, void *argument) {
    (void)space;
    fl_library *library = argument;
    uint64_t word = 0;
    if (writes || library->reads == 0) return -UNW_EINVAL;
    library->reads--;
    if (address == table_address) {
        memcpy(&word, library->table, sizeof word);
    } else if (!library->source->word(library->context, address, &word)) {
        if (!library->finds_entry) return -UNW_EINVAL;
        word = 0;
    }
    *value = word;
    return 0;
}

static int read_register(
    unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int writes, void *argument) {
    (void)space;
    fl_library *library = argument;
    uint64_t found = 0;
    int wanted = number;
    if (number == UNW_REG_IP) wanted = fl_library_counter;
    if (number == UNW_REG_SP) wanted = fl_library_stack;
    if (writes || !library->source->value(library->context, wanted, &found)) return -UNW_EBADREG;
    *value = found;
    return 0;
}

static int find_entry(
    unw_addr_space_t space, unw_word_t address, unw_proc_info_t *found, int needs_info,
    void *argument) {
    fl_library *library = argument;
    uint64_t entry = 0;
    if (!library->source->entry(library->context, address, &entry)) return -UNW_ENOINFO;
    // The entry itself says where the function begins.
    const int64_t distance = (int64_t)(address - entry);
    if (distance != (int32_t)distance) return -UNW_ENOINFO;
    library->table[0] = (uint32_t)distance;
    library->table[1] = 0;
    unw_dyn_info_t info;
    memset(&info, 0, sizeof info);
    info.start_ip = address;
    info.end_ip = address + 1;
    info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    info.u.rti.segbase = entry;
    info.u.rti.table_data = table_address;
    // In words of the process.
    info.u.rti.table_len = 1;
    library->finds_entry = 1;
    const int result =
        unw.dwarf_search_unwind_table(space, address, &info, found, needs_info, argument);
    library->finds_entry = 0;
    return result;
}

static void put_info(unw_addr_space_t space, unw_proc_info_t *info, void *argument) {
    (void)space, (void)info, (void)argument;
}

// libunwind would find code that registers itself in its own list here: we have no copy of it.
static int find_list(unw_addr_space_t space, unw_word_t *address, void *argument) {
    (void)space, (void)argument;
    *address = 0;
    return -UNW_ENOINFO;
}

static int read_float(
    unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int writes, void *argument) {
    (void)space, (void)number, (void)value, (void)writes, (void)argument;
    return -UNW_EBADREG;
}

static int go_on(unw_addr_space_t space, unw_cursor_t *cursor, void *argument) {
    (void)space, (void)cursor, (void)argument;
    return -UNW_EINVAL;
}

static int find_name(
    unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
    void *argument) {
    (void)space, (void)address, (void)name, (void)size, (void)offset, (void)argument;
    return -UNW_ENOINFO;
}

// MARK: Unwinding

fl_library *fl_library_create(const fl_library_source *source) {
    // Later versions have more members: these are NULL, so libunwind sees that we have none.
    static union {
        unw_accessors_t known;
        char all[512];
    } accessors = {.known = {
        .find_proc_info = find_entry,
        .put_unwind_info = put_info,
        .get_dyn_info_list_addr = find_list,
        .access_mem = read_word,
        .access_reg = read_register,
        .access_fpreg = read_float,
        .resume = go_on,
        .get_proc_name = find_name,
    }};
    if (!fl_library_is_loadable()) return NULL;
    fl_library *library = calloc(1, sizeof *library);
    if (library == NULL) return NULL;
    library->source = source;
    library->space = unw.create_addr_space(&accessors.known, 0);
    if (library->space == NULL) {
        free(library);
        return NULL;
    }
    unw.set_caching_policy(library->space, UNW_CACHE_GLOBAL);
    return library;
}

void fl_library_free(fl_library *library) {
    unw.destroy_addr_space(library->space);
    free(library);
}

void fl_library_forget(fl_library *library) { unw.flush_cache(library->space, 0, 0); }

int fl_library_unwind(fl_library *library, void *context, uint64_t reads, int number) {
    unw_cursor_t cursor;
    library->context = context;
    library->reads = reads;
    if (unw.init_remote(&cursor, library->space, library) != 0) return fl_library_failed;
    int is_return_address = 0;
    while (1) {
        unw_word_t address = 0;
        if (unw.get_reg(&cursor, UNW_REG_IP, &address) != 0) return fl_library_failed;
        unw_word_t value = 0;
        const int is_known = unw.get_reg(&cursor, number, &value) == 0;
        if (!library->source->frame(context, address, is_return_address, value, is_known))
            return fl_library_stopped;
        const int step = unw.step(&cursor);
        if (step <= 0) return step == 0 ? fl_library_end : fl_library_failed;
        // The result is for the interrupted frame, not for the one that the kernel has made.
        is_return_address = unw.is_signal_frame(&cursor) <= 0;
    }
}
