// Code that runs inside the profiled program. It is freestanding and position-independent: the
// recorder copies it into the program's address space and fills in the words named below. It
// uses no library and no thread-local memory, and writes nothing but the thread's own stack and
// the shared slots; what it reads of the program it lets the kernel copy, which cannot fault.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One thread's place in the memory that the program and the recorder share: the recorder asks,
// the signal handler answers.
struct fl_slot {
    uint32_t state;         // one of the values below
    uint32_t alternate;     // answer: 1 on an alternate signal stack; nothing was copied then
    // Written by the recorder before it asks:
    uint64_t stack_low;     // the mapping of the thread's stack as far as it is known: how much
    uint64_t stack_high;    // to copy. Elsewhere `capacity` is copied, or what there is
    uint64_t capacity;      // how many bytes of `stack` may be used
    // Written by the handler:
    int64_t time_ns;        // CLOCK_MONOTONIC
    int64_t cpu_ns;         // the thread's CPU clock
    uint64_t registers[17]; // the kernel's order: r8 … r15 rdi rsi rbp rbx rdx rax rcx rsp rip
    uint64_t copied_start;  // the address of the first byte in `stack`
    int64_t copied_size;    // negative: an error number
    uint64_t vectors[4];    // scratch: process_vm_readv(2)'s two struct iovec
    uint8_t stack[];
};

enum {
    FL_SLOT_IDLE = 0,
    FL_SLOT_REQUESTED = 1,  // the signal is on its way
    FL_SLOT_BUSY = 2,       // the handler is at work
    FL_SLOT_FILLED = 3,     // the answer is there
    FL_SLOT_DECLINED = 4,   // no answer: system calls may be forbidden
};

// In the first slot's place: what concerns the whole process.
struct fl_shared {
    uint32_t displaced;     // the program has set another action for the sampling signal
    uint32_t filtered;      // the program prepares a filter for its system calls
    int32_t outstanding;    // requests whose signals may still be on their way
    uint32_t execution;     // one of the values below
    uint32_t phase;         // one of the values below
    uint32_t masks;         // how often a thread was about to block the sampling signal
};

enum {
    FL_EXECUTION_NONE = 0,
    FL_EXECUTION_AHEAD = 1,    // a thread is about to execute another program, and waits
    FL_EXECUTION_FOLLOWED = 2, // the recorder traces it: it may go on

    FL_PHASE_MAPPED = 1,       // the thread that maps the slots waits for the recorder
    FL_PHASE_ACCEPTED = 2,     // the recorder has them, too
    FL_PHASE_READY = 3,        // the handler is set: requests will be answered
    FL_PHASE_ABANDONED = 4,    // it has waited in vain, and unmaps them
};

// What the recorder leaves on the stack of a thread that it leads to an entry, below the red zone.
struct fl_diversion {
    uint64_t mask;      // the signals that it had blocked; all are while it is in the entry
    uint64_t resume;    // where it goes on
};

struct fl_agent {
    const uint8_t *code;
    uint32_t launch_length; // the part that watching a launch needs
    uint32_t length;        // all of it
    // Offsets within the code.
    // Entries, at which a stopped thread is made to go on:
    uint32_t set_action;    // sets a signal's action
    uint32_t map_slots;     // makes and maps the slots, waits for the recorder, sets the sampling
                            // signal's action
    uint32_t waiting, waiting_end;  // where map_slots waits
    uint32_t unmap_slots;   // sets the sampling signal's action and unmaps the slots
    uint32_t unmapped, unmapped_end;    // where it waits for the recorder
    // Stand-ins for the C library's system calls of these names:
    uint32_t sigaction, prctl, execve, sigmask;
    // Handlers, and what the kernel's ABI wants beside them:
    uint32_t trap_handler;    // returns
    uint32_t sample_handler;  // fills a slot
    uint32_t restorer;        // rt_sigreturn
    // Words to fill in; an action is a struct kernel_sigaction of 4 words:
    uint32_t signal, action;
    uint32_t slots;         // where the slots are mapped; 0: nobody is answered
    uint32_t slots_size;    // in bytes
    uint32_t slot_mask;     // a slot's size (a power of two) - 1
    uint32_t pid;           // the process's id, as it knows it itself
    uint32_t recorder;      // the recorder's id, as the process knows it; 0 where it does not
    uint32_t sample_signal, sample_action;
    uint32_t protection;    // of the slots' mapping (mmap(2))
    uint32_t old_slots;     // what unmap_slots unmaps; where map_slots should map: 0: anywhere
    uint32_t naps;          // how often it naps at most until the recorder gives its state back
    uint32_t original_handler;  // what the program is told that the sampling signal does
    uint32_t after_sigaction, after_prctl, after_execve, after_sigmask;
};

struct fl_agent fl_agent_describe(void);

// One run of an initialiser, as the thread that ran it saw it.
struct fl_initializer {
    uint64_t function;      // the original
    uint32_t state;         // one of the values below
    uint32_t tid;           // as the process knows it
    int64_t start_ns, end_ns;           // CLOCK_MONOTONIC
    int64_t start_cpu_ns, end_cpu_ns;   // the thread's CPU clock
    uint64_t library;       // 1 + its number among the loaded libraries; 0: one of the start-up
    uint64_t unused;
};

enum {
    FL_INITIALIZER_NOT_RUN = 0,
    FL_INITIALIZER_RUNNING = 1,
    FL_INITIALIZER_RETURNED = 2,
};

// A call that loads libraries: when the linker took the first up, and who called.
struct fl_open {
    int64_t start_ns;       // CLOCK_MONOTONIC
    uint32_t tid;           // as the process knows it
    uint32_t unused;
    uint64_t registers[8];  // rsp rip rbp rbx r12 r13 r14 r15
    int64_t copied_size;    // bytes copied from rsp upwards; negative: an error number
    uint64_t reserved[5];
};
enum { FL_OPEN_STACK = 65536 };  // bytes of a stack that are copied at most

// A library that such a call loaded, and its original initialisers.
struct fl_library {
    uint64_t map;           // its struct link_map
    uint64_t initializer;   // DT_INIT's function; 0: none
    uint64_t array;         // DT_INIT_ARRAY's address
    uint64_t count;         // its length
    uint64_t open;          // the number of the call
    uint64_t only;          // the array of one that takes its place
    uint64_t unused[2];
};

// How many of each there are so far, and what the linker's hook remembers between two calls.
struct fl_loads {
    uint32_t opens, libraries, records;
    uint32_t is_adding;
    uint32_t known;         // the length of the linker's list when it was counted last
};

// What a hit of a mark says: the beginning of it as the ring's slot has it (firstlight/signpost.h).
struct fl_mark {
    uint8_t kind, flags, name_length, category_length;
    uint32_t words;         // how many of 8 bytes the text takes
    char text[248];         // name, category
};

// Code for a mapping of its own. A thunk loads a number into eax and jumps to `initializer` (a
// record's number) or `driver` (twice a library's, + 1 for its array).
struct fl_hooks {
    const uint8_t *code;
    uint32_t length;
    uint32_t initializer, driver;
    uint32_t debug_state;   // takes _dl_debug_state's place
    uint32_t mark;          // what the trampolines of marks call
    uint32_t words;         // a struct fl_hook_words to fill in
};

struct fl_hook_words {
    uint64_t records;       // addresses of struct fl_initializer …
    uint64_t pid;           // the process's id, as it knows it itself
    uint64_t slots;         // address of the agent's word that tells where the slots are
    uint64_t head;          // address of the struct fl_shared that is obeyed while there are none
    uint64_t debug;         // the linker's struct r_debug
    uint64_t loads;         // … of struct fl_loads, struct fl_open, struct fl_library,
    uint64_t opens;
    uint64_t libraries;
    uint64_t thunks;        // of the libraries' thunks, 16 bytes each,
    uint64_t stacks;        // of FL_OPEN_STACK bytes for each open
    uint64_t most_records, most_opens, most_libraries;
    uint64_t ring;          // the ring of signposts, for marks; 0: they are not noted
    uint64_t marks;         // … of struct fl_mark
};

struct fl_hooks fl_hooks_describe(void);
