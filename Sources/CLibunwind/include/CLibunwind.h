#ifndef FIRSTLIGHT_LIBUNWIND_H
#define FIRSTLIGHT_LIBUNWIND_H

#include <stdint.h>

// libunwind's unwinding of another process (`unw_init_remote`). It asks the caller for words of
// memory, registers and functions' table entries, and reads nothing else.
//
// The library is loaded when it is first needed: few programs' stacks need it.

// The library's file.
#define FL_LIBUNWIND "libunwind-x86_64.so.8"

// Loads the library at the first call. 1 if it is loaded. It is never unloaded.
int fl_library_is_loadable(void);

// Each returns 0 for "not known". `context` is the argument of fl_library_unwind.
typedef struct {
    // A word at an address, aligned or not.
    int (*word)(void *context, uint64_t address, uint64_t *value);
    // A register by its DWARF number, or fl_library_counter or fl_library_stack.
    int (*value)(void *context, int number, uint64_t *value);
    // The entry (FDE) of `.eh_frame` of the function that an address may lie in.
    int (*entry)(void *context, uint64_t address, uint64_t *entry);
    // Gets a frame, innermost first, with one of its registers; 0: no more are wanted.
    int (*frame)(
        void *context, uint64_t address, int is_return_address, uint64_t value, int is_known);
} fl_library_source;

enum { fl_library_counter = -1, fl_library_stack = -2 };

// How a stack ended.
enum {
    fl_library_end = 0,      // there is no caller
    fl_library_failed = 1,   // data that are needed are unknown or make no sense
    fl_library_stopped = 2,  // no more frames were wanted
};

typedef struct fl_library fl_library;

// NULL: no memory, or the library cannot be loaded. The caller frees the result, and uses it in one
// thread at a time. `source` must stay where it is.
fl_library *fl_library_create(const fl_library_source *source);
void fl_library_free(fl_library *library);

// Forgets the rules kept from earlier stacks: libunwind finds them by address alone.
void fl_library_forget(fl_library *library);

// Unwinds one stack. Asks for at most `reads` words, whatever the tables say. For each frame it
// reports the register that `number` names (DWARF).
int fl_library_unwind(fl_library *library, void *context, uint64_t reads, int number);

#endif
