// Code that runs inside the profiled program, and the memory that it shares with the recorder: the
// area. The recorder or a thread of the program makes it, and the recorder fills it in. It is one
// mapping: first the code (position-independent; it calls no library), then the data that both
// sides write. Everything in it is at a fixed distance from its beginning, so the code finds
// everything from its own address.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The layout of the area, in bytes from its beginning. The code's part is mapped for reading and
// executing, everything behind it for reading and writing.
#define FL_TRAMPOLINES 0x10000  // of marks: code that the recorder writes
#define FL_ISLAND 0x30000       // the same for code far away: mapped once more, near it
#define FL_STATE 0x50000        // struct fl_state
#define FL_OWN 0x51000          // a private page: 1 in the process, 0 or 2 in its forked children
#define FL_CURSORS 0x52000      // another, copied to children: the position in each library's array
#define FL_SLOTS 0x53000        // struct fl_slot, FL_MOST_SLOTS of them, up to FL_RECORDS
#define FL_RECORDS 0x73000      // struct fl_initializer …
#define FL_LIBRARIES 0xB3000    // struct fl_library …
#define FL_OPENS 0xE3000        // struct fl_open …
#define FL_MARKS 0x103000       // struct fl_mark …
#define FL_STACKS 0x143000      // FL_STACKS_SIZE bytes for the opens' stacks, one behind the other
#define FL_ENTRIES 0x243000     // in place of initialisers, for the linker: FL_MOST_ENTRIES words
#define FL_RING 0x24D000        // the ring of signposts; the recorder knows its size

#define FL_SLOT_SIZE 256
#define FL_MOST_SLOTS 512
#define FL_MOST_RECORDS 4096
#define FL_MOST_LIBRARIES 1024
#define FL_MOST_ENTRIES 5120    // one per initialiser, one more per library; musl: also its section
#define FL_MOST_OPENS 512
#define FL_MOST_MARKS 1024
#define FL_OPEN_STACK 0x10000   // the most that the stack of one open takes
#define FL_STACKS_SIZE 0x100000
#define FL_FILE_START 1024      // kept of a library's file: its layout and its build
#define FL_FILE_NAME 256
#define FL_FILES_SIZE 0xC0000   // the part of the stacks' room that may also hold files
#define FL_MOST_FILES 32        // how many of the start-up's libraries have their file kept
#define FL_MOST_PATCHES 80
#define FL_TRAMPOLINES_SIZE 0x20000

// One thread's place: the recorder asks, the signal handler answers. All FL_SLOT_SIZE bytes are in
// use, and the slots fill the room from FL_SLOTS to FL_RECORDS. To add a field, make FL_SLOT_SIZE
// the next power of two, and change the shift in handler.h that multiplies by it. Then halve
// FL_MOST_SLOTS, or move FL_RECORDS and everything behind it.
struct fl_slot {
    uint32_t state;         // one of the values below
    uint32_t alternate;     // answer: 1 on an alternate signal stack; nothing was copied then
    // Written by the recorder before it asks:
    uint64_t stack_low;     // the mapping of the thread's stack, as far as it is known: it limits
    uint64_t stack_high;    // the copy. Outside it `capacity` bytes are copied, or as many as exist
    uint32_t capacity;      // how many bytes of the stack may be copied
    uint32_t frames_room;   // how many bytes of an interpreter's frames may follow them
    uint64_t buffer;        // where to copy them; from the area's beginning
    // Written by the handler:
    int64_t time_ns;        // CLOCK_MONOTONIC
    int64_t cpu_ns;         // the thread's CPU clock
    uint64_t copied_start;  // the address of the first byte copied
    int64_t copied_size;    // negative: an error number
    uint64_t registers[17]; // the kernel's order: r8 … r15 rdi rsi rbp rbx rdx rax rcx rsp rip
    uint64_t vectors[4];    // scratch: process_vm_readv(2)'s two struct iovec
    // For a thread that runs an interpreter's frames:
    uint64_t thread;        // written before the request: where the thread's state is
    uint64_t frames_size;   // of a struct fl_frames behind the stack's copy (at a multiple of 8); 0: none
};

// Where an interpreter keeps its frames (FrameListLayout): distances in bytes, or FL_NOWHERE.
struct fl_frame_list {
    uint32_t newest;        // from a thread's state to the pointer to its newest frame,
    uint32_t newest_inside; // or to a pointer to a structure that has that pointer at this offset
    uint32_t kernel_id;     // from a thread's state to its id,
    uint32_t arena_start;   // and to the two ends of the memory that has most frames
    uint32_t arena_top;
    uint32_t caller;        // in a frame's record: where the pointers to its caller and code are
    uint32_t code;
    uint32_t part_offsets[2], part_sizes[2];    // a frame's record
    uint32_t identity_offset, identity_size;    // the data that tell code objects apart
    uint32_t unused;
    uint64_t code_mask;     // which bits of a pointer to a code object are the address
};
#define FL_NOWHERE 0xFFFFFFFF

// The head of the frames found, followed by each frame's address and record, and then by the
// identities of the first frames' code objects.
struct fl_frames {
    uint64_t thread;        // as in the request
    uint64_t kernel_id;     // from the thread's state; 0: the state does not have it
    uint64_t newest;        // from the thread's state: the newest frame, or the structure with it
    uint64_t rest;          // where the next frame would be; 0: these are all
    uint32_t count;         // of frames
    uint32_t identified;    // of identities
};

enum {
    FL_SLOT_IDLE = 0,
    FL_SLOT_REQUESTED = 1,  // the signal is on its way
    FL_SLOT_BUSY = 2,       // the handler is at work
    FL_SLOT_FILLED = 3,     // the answer is there
    FL_SLOT_DECLINED = 4,   // no answer: system calls may be forbidden
};

// Eight bytes that replace code of the program when the area settles.
struct fl_patch {
    uint64_t address;
    uint64_t word;          // the bytes to write; if `target` is not 0, the first five are instead
    uint64_t target;        // a jump to this place in the area; or one of the values below
};
enum {
    FL_RESTORES = 1,        // our bootstrap is in this place, and the thread resumes there
};

// The C library's system calls that concern us.
enum {
    FL_SITE_SIGACTION = 0,
    FL_SITE_SIGMASK = 1,
    FL_SITE_EXECVE = 2,
    FL_SITE_PRCTL = 3,
    FL_SITE_MLOCKALL = 4,
    FL_SITE_SYSCALL = 5,    // syscall(2), which may make any of them
    FL_SITE_STACK = 6,      // sigaltstack
    FL_SITE_THREAD = 7,     // set_robust_list: a new thread calls it with all its signals blocked
    FL_SITES = 8,
};

// A thread that has an alternate signal stack. The kernel puts the frames of our signals there,
// because the thread's own stack pointer may be anywhere at that moment.
struct fl_alternate {
    uint32_t tid;           // its id as the process knows it; 0: the entry is free
    uint32_t kind;          // one of the values below
};
#define FL_MOST_ALTERNATES 64
enum {
    FL_ALTERNATE_NONE = 0,      // it has none
    FL_ALTERNATE_OURS = 1,
};

// An interval in which a thread of the program ran our code, or was stopped for it.
struct fl_moment {
    int64_t time_ns;        // CLOCK_MONOTONIC; 0: the moment was not reached
    int64_t cpu_ns;         // the process's CPU clock
    int64_t minor_faults;   // of the process
};
struct fl_stretch {
    struct fl_moment start, end;
};
enum {
    FL_STRETCH_ENTRY = 0,       // bringing the area in; the start is after the stop
    FL_STRETCH_RELOCATED = 1,   // at the border of that name
    FL_STRETCH_MAIN = 2,
    FL_STRETCHES = 3,
};

// A kernel timer that sends one thread the sampling signal at each interval of its CPU time, if the
// thread runs its own code then. The recorder opens the timer, and puts requests into the slots
// beforehand.
#define FL_TIMER_SLOTS 24      // answers that wait while the recorder has no core
#define FL_TIMER_SIZE 64
struct fl_timer {
    uint32_t tid;           // the thread's id as the process knows it; 0: there is no timer
    uint32_t descriptor;    // the recorder's descriptor, which the signal carries, plus 1; 0: none
    uint16_t slots[FL_TIMER_SLOTS];     // the thread's own, or FL_NO_SLOT
    uint32_t signal;        // the signal that the timer sends
    uint32_t unused;
};
#define FL_MOST_TIMERS 8
#define FL_NO_SLOT 0xFFFF

// The program has the kernel allow system calls by their address (user dispatch). Our code makes
// none then, not even on the program's behalf.
#define FL_DISPATCHED 2

// The state of the whole process.
struct fl_state {
    uint32_t phase;         // one of the values below
    uint32_t displaced;     // the program has set another action for the sampling signal
    uint32_t filtered;      // 1: the program prepares a filter for system calls; or FL_DISPATCHED
    int32_t outstanding;    // requests whose signals may still be on their way
    uint32_t execution;     // one of the values below
    uint32_t masks;         // how often a thread was about to block the sampling signal
    int32_t next_area;      // while a program is about to be executed: the descriptor of its area
    uint32_t gate;          // one of the values below
    uint32_t pid;           // the process's id, as it knows it itself
    uint32_t recorder;      // the recorder's id, as the process knows it; 0: it does not
    // Written before the area settles:
    uint64_t size;          // of the area
    uint64_t cookie;        // the upper 48 bits of our signals' values; never 0
    uint64_t sample_signal; // 0: no stacks by signal
    uint64_t settled_flags; // of the handler's action: SA_…
    uint64_t original_handler;  // the handler that the program sees for this signal
    uint64_t patch_count;
    struct fl_patch patches[FL_MOST_PATCHES];
    uint64_t debug;         // the linker's struct r_debug; 0: the linker reports nothing
    uint64_t is_started;    // whether the start-up's libraries are loaded
    uint64_t start_pointer; // where the program keeps __libc_start_main's address; 0: not known
    uint64_t start_is_protected;    // whether that is read-only once it is relocated
    // Where the C library makes the system calls that concern us, from its load address; 0: not
    // known. In the order of FL_SITE_….
    uint64_t sites[FL_SITES];
    uint64_t wants_sites;   // which of them our code should intercept: bits in that order
    uint64_t island;        // where to map FL_ISLAND as well; 0: nowhere. Then: where it is
    // Written by the program:
    uint64_t address;       // of the area
    int64_t settled_ns;     // when the area was ready, on CLOCK_MONOTONIC
    int64_t mapping_ns;     // when the linker began to map libraries
    int64_t gate_ns, gate_end_ns;   // when the gate was reached and passed
    uint64_t library_base;  // the load address of the C library whose calls we intercept
    uint64_t hooked;        // which calls we intercept: bits in the order of `sites`
    uint64_t hooked_words[FL_SITES];   // the original code
    uint64_t after[FL_SITES];      // where each call continues
    uint64_t real_start, real_main, real_init;
    uint32_t borders;       // which of FL_BORDER_… were noted (bits): the first of the opens
    uint32_t opens, libraries, records;
    uint32_t is_adding;
    uint32_t known;         // the length of the linker's list when it was counted last
    uint64_t ring;          // whether marks are noted
    int64_t settled_cpu_ns; // the thread's CPU clock when the area was ready
    // Another signal that is ignored by default, for a program that uses the first one itself; 0:
    // none. We use it only for such a program, because some programs use this one as well.
    uint32_t spare_signal;
    uint32_t spare;         // one of the values below
    uint64_t spare_original;    // the handler that the program sees for it
    uint32_t sending;       // whether the recorder is about to send a request's signal
    uint32_t stacks;        // how much of the opens' stacks is in use, in bytes
    // The thread that is about to execute another program, as the process knows it; 0: none.
    uint32_t executor;
    // Whether the program may have a handler that blocks one of our signals while it runs; or
    // FL_HANDLERS_UNKNOWN, until the thread that brings the area in has asked.
    uint32_t handlers_block;
    // Whether an executed program gets its file's privileges although we trace it.
    uint32_t may_gain_privileges;
    uint32_t unannounced;   // a program that would not get them is being executed, untraced
    // For other recorders, should this one be killed:
    uint64_t stays;         // whether signposts or marks lead here: a thread may always be in one
    struct fl_patch hook;   // where the linker's hook leads here, and the original word
    // For a launch that is measured and not recorded:
    uint64_t is_measured;   // note only the borders, and the cost of our own code
    struct fl_stretch stretches[FL_STRETCHES];
    int64_t ahead_ns, followed_ns;  // when a thread's wait for us before its execve began, ended
    // Of the arrays that the linker finds in place of the libraries' own:
    uint32_t entries;       // how many words are in use
    uint32_t has_cursors;   // whether FL_CURSORS is private; without it we intercept no library
    uint32_t words;         // of a static program: how many of its initialisers' words lead here
    uint32_t words_are_protected;   // whether they are read-only once they are relocated
    uint64_t gates_entry;   // whether the gate is at the entry: no hook reports loaded libraries
    uint64_t is_musl;       // whether the linker is musl's: it reports once, at the start-up's end
    // Where the linker reads the address of the program's first instruction, if that leads here; 0:
    // it does not.
    uint64_t entry_pointer;
    uint64_t real_entry;    // the original address
    // Written by the recorder when it has found an interpreter; all zero before.
    struct fl_frame_list frames;
    struct fl_timer timers[FL_MOST_TIMERS];     // written by the recorder
    uint32_t masking;       // how many threads are about to block the sampling signal
    // Of alternate signal stacks:
    uint32_t uses_alternates;   // 1: our handler runs on them; or the value below
    uint32_t alternate_turn;    // which entry to check next when none is free
    uint32_t spare_flags;   // SA_ONSTACK if the program's own action for the first signal has it
    uint32_t unwritten;     // whether patches are still unwritten: one of the values below
    uint64_t alternate_size;    // of each; 0: none are made
    uint64_t alternates_at;     // where they are, one for each entry, each above a guard page
    uint64_t alternates_made;   // which entries' stacks are accessible: bits
    struct fl_alternate alternates[FL_MOST_ALTERNATES];
};

enum {
    FL_ALTERNATES_GIVEN_UP = 2, // the program has made an alternate stack of its own

    FL_HANDLERS_UNKNOWN = 2,

    FL_PHASE_EMPTY = 0,     // not filled in yet
    FL_PHASE_FILLED = 1,    // the recorder has filled it in
    FL_PHASE_ABANDONED = 2, // the program waited for that in vain, or could not map the area
    FL_PHASE_SETTLED = 3,   // the program uses it

    FL_EXECUTION_NONE = 0,     // or execution without the recorder
    FL_EXECUTION_AHEAD = 1,    // a thread is about to execute another program, and waits
    FL_EXECUTION_FOLLOWED = 2, // the recorder traces the thread, which may go on

    FL_GATE_OPEN = 0,
    FL_GATE_CLOSED = 1,     // a thread that reaches it waits: with libraries loaded, or before all
    FL_GATE_WAITING = 2,    // a thread waits there
    FL_GATE_PASSED = 3,     // the thread may go on
    FL_GATE_SERVING = 4,    // the thread waits while the recorder changes code

    FL_PATCHES_WRITTEN = 0,
    FL_PATCHES_WAIT = 1,    // the program could not write them, and waits for the recorder
    FL_PATCHES_REFUSED = 2, // the recorder could not, either

    FL_SPARE_NOT_NEEDED = 0,
    FL_SPARE_IN_PLACE = 1,
    FL_SPARE_REFUSED = 2,   // the program uses that one, too
    FL_SPARE_BEGUN = 3,
};

// The recorder leaves this below the red zone on the stack of a thread that it redirects to an
// entry.
struct fl_diversion {
    uint64_t mask;      // the thread's signal mask; in the entry all signals are blocked
    uint64_t resume;    // where the thread resumes
};

// The data at the stack pointer of a thread that makes the rest of a call in our code. They are
// below the red zone of its original stack pointer.
struct fl_rest {
    uint64_t moved;         // how much the call has moved so far
    uint64_t rdi, rsi, rdx, r10, r8, r9;    // as they were
    uint64_t resume;        // where the thread resumes
    uint64_t number;        // of the call
    uint64_t stack_pointer; // as it was
    uint64_t flags;         // the processor's, as they were
    // For a pipe or a socket: the kernel's struct pollfd, and the bytes still to be written
    int32_t descriptor;
    uint16_t events, told;
    uint64_t start, left;
    uint32_t is_socket, length;
    uint64_t limit[2];      // scratch: how long the socket waits
    uint32_t part, parts;   // of a call that writes several parts (rsi): the next; how many
};

// A piece of code that is placed alone for a while, where the program has no code: one piece brings
// the area in, the other removes it.
struct fl_piece {
    const uint8_t *code;
    uint32_t length;
    uint32_t words;     // where the words to be filled in begin
};
struct fl_boot_words {
    int64_t descriptor;     // of the area's memory; -1: the thread makes it
    uint64_t place;         // where the area should be
    uint64_t size;
    uint32_t is_at_entry;   // whether the piece replaces the program's first instruction
    uint32_t recorder;      // the recorder's id, if the thread makes the area; 0: not known
};
struct fl_away_words {
    uint64_t signal;        // whose action is set, if it is ours; 0: no signal's
    uint64_t action[4];     // struct kernel_sigaction; its restorer is not used
    uint64_t address, size; // of the memory to unmap; size 0: nothing
    uint64_t naps;          // the most naps until the recorder restores the thread's state
    uint64_t handler;       // ours
};

struct fl_code {
    const uint8_t *code;    // the area's
    uint32_t length;
    struct fl_piece boot, away;
    // Within `away`: where a thread waits when it is done.
    uint32_t away_waiting, away_waiting_end;
    // Within the area's code:
    uint32_t arrival;           // length of the part that exists before the rest is filled in
    uint32_t debug_state;   // takes _dl_debug_state's place
    uint32_t mark;          // called by the trampolines of marks
    uint32_t stand_ins[FL_SITES];  // for the C library's system calls, in the order of `sites`
    uint32_t stand_ins_end;
    uint32_t sample_handler, restorer;
    // Where the rest of a call is made: for files (done from `rest_made` on), for pipes and sockets
    uint32_t rest, rest_made, rest_of_stream, rest_end;
    uint32_t main;          // called in place of main
    uint32_t entry;         // where the linker goes in place of the program's first instruction
    uint32_t thunks;        // two for each library: for DT_INIT and for DT_INIT_ARRAY's words
};
struct fl_code fl_code_describe(void);

// One run of an initialiser, as the thread that ran it saw it.
struct fl_initializer {
    uint64_t function;      // the original
    uint32_t state;         // one of the values below
    uint32_t tid;           // as the process knows it
    int64_t start_ns, end_ns;           // CLOCK_MONOTONIC
    int64_t start_cpu_ns, end_cpu_ns;   // the thread's CPU clock
    uint64_t library;       // its number among the libraries
    uint64_t unused;
};

enum {
    FL_INITIALIZER_NOT_RUN = 0,
    FL_INITIALIZER_RUNNING = 1,
    FL_INITIALIZER_RETURNED = 2,
};

// A moment at which the linker or the program called our code, and the stack of the calling thread.
// The entries before FL_FIRST_OPEN are the launch's borders, all others calls that load libraries.
struct fl_open {
    int64_t start_ns;       // CLOCK_MONOTONIC; written last
    int64_t cpu_ns;         // the thread's CPU clock
    uint32_t tid;           // as the process knows it
    uint32_t stack;         // where its stack is, from FL_STACKS
    uint64_t registers[8];  // rsp rip rbp rbx r12 r13 r14 r15
    int64_t copied_size;    // bytes copied from rsp upwards; negative: an error number
    int64_t minor_faults, major_faults, blocks_read;    // of the process; blocks of 512 bytes
    uint64_t vectors[4];    // scratch
    uint64_t reserved[13];
};
enum {
    FL_BORDER_RELOCATED = 0,
    FL_BORDER_MAIN = 1,
    FL_FIRST_OPEN = 2,
};

// A library, and its original initialisers. For a static program, a word of its arrays: `own[0]` is
// where the word is, `initializer` is the function that it leads to, and `entries[0]` is where that
// function's address is written before the program relocates itself, if it does.
struct fl_library {
    uint64_t map;           // its struct link_map
    uint64_t initializer;   // DT_INIT's function; 0: none
    uint64_t array;         // DT_INIT_ARRAY's address
    uint64_t count;         // its length
    uint64_t running;       // if `runs` leads here: the unfinished record's number plus 1; 0: none
    uint64_t open;          // the number of the call that loaded it; 0: the start-up
    // The linker finds these in place of the library's own entries:
    uint64_t entries[6];    // DT_INIT, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, each with its value
    uint64_t own[3];        // where the library's own entries are, with musl its section; all 0: we
                            // do not intercept it
    // For a recorder that reads the mappings only after the process has ended:
    uint64_t bias;          // the linker has added this to the file's addresses
    int64_t kept_size;      // how much of FL_FILE_START was copied from there; below 1: nothing
    uint64_t kept;          // where to, from FL_STACKS; then its name, FL_FILE_NAME bytes at most
    uint64_t given_back;    // 1: the linker finds the library's own entries again
    uint64_t runs;          // where the unfinished record's number is: its own `running`, or that
                            // of the first library
    uint64_t unused[4];
};

// The event that a mark records. It begins as in the ring's slot (firstlight/signpost.h).
struct fl_mark {
    uint8_t kind, flags, name_length, category_length;
    uint32_t words;         // the length of the text, in units of 8 bytes
    char text[248];         // name, category
};

// Whether a call that ended with EINTR did nothing, and may be made once more. Some calls have a
// time limit, which starts anew. But our signal, or the stop, arrived as the call began, because it
// was meant for a running thread. `second`: the call's second argument. This is a macro, because
// the area's code is compiled for fewer processor features.
#define FL_MAY_BE_REPEATED(number, second)                                                     \
    (/* pause, semop, msgsnd, msgrcv, rt_sigsuspend, rt_sigtimedwait, semtimedop */            \
     (number) == 34 || (number) == 65 || (number) == 69 || (number) == 70 ||                   \
     (number) == 130 || (number) == 128 || (number) == 220 || /* poll, select, pselect6 */     \
     (number) == 7 || (number) == 23 || (number) == 270 || /* ppoll, epoll_wait */             \
     (number) == 271 || (number) == 232 || /* epoll_pwait, epoll_pwait2 */                     \
     (number) == 281 || (number) == 441 || /* nanosleep, clock_nanosleep */                    \
     (number) == 35 || (number) == 230 || /* read of an inotify; with a timeout: accept, */    \
     (number) == 0 || (number) == 43 || /* sendto, recvfrom, sendmsg, recvmsg, accept4 */      \
     (number) == 44 || (number) == 45 || (number) == 46 || (number) == 47 ||                   \
     (number) == 288 || /* recvmmsg; io_getevents, io_pgetevents */                            \
     (number) == 299 || (number) == 208 || (number) == 333 || /* futex_waitv, FUTEX_WAIT */    \
     (number) == 449 || ((number) == 202 && ((second) & 0x7F) == 0) ||                         \
     ((number) == 202 && ((second) & 0x7F) == 9)) /* FUTEX_WAIT_BITSET */

static inline int fl_may_be_repeated(uint32_t number, uint64_t second) {
    return FL_MAY_BE_REPEATED(number, second);
}
