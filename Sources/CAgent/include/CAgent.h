// Code that runs inside the profiled program, and the memory that it shares with the recorder: the
// area. The recorder makes it, or a thread of the program does, and the recorder fills it in. It is
// one mapping: first the code (position-independent, it calls no library), then what both sides
// write. All places in it are fixed distances from its beginning, so that the code finds
// everything from where it is itself.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Where things lie in the area, in bytes from its beginning. The code's part is mapped for reading
// and executing, all behind it for reading and writing.
#define FL_TRAMPOLINES 0x10000  // of marks: code that the recorder writes
#define FL_ISLAND 0x30000       // the same for code far away: mapped once more, near it
#define FL_STATE 0x50000        // struct fl_state
#define FL_OWN 0x51000          // a page of the process's own: 1 in it, 0 in a child that it forked, or 2
#define FL_CURSORS 0x52000      // another, of which children get a copy: how far each library's array is
#define FL_SLOTS 0x53000        // struct fl_slot, FL_MOST_SLOTS of them, up to FL_RECORDS
#define FL_RECORDS 0x73000      // struct fl_initializer …
#define FL_LIBRARIES 0xB3000    // struct fl_library …
#define FL_OPENS 0xE3000        // struct fl_open …
#define FL_MARKS 0x103000       // struct fl_mark …
#define FL_STACKS 0x143000      // FL_STACKS_SIZE bytes for the opens' stacks, one behind the other
#define FL_ENTRIES 0x243000     // what the linker finds in place of initialisers: FL_MOST_ENTRIES words
#define FL_RING 0x24D000        // of signposts; how large it is, the recorder knows

#define FL_SLOT_SIZE 256
#define FL_MOST_SLOTS 512
#define FL_MOST_RECORDS 4096
#define FL_MOST_LIBRARIES 1024
#define FL_MOST_ENTRIES 5120    // an initialiser's each, a library's one more, with musl its section, too
#define FL_MOST_OPENS 512
#define FL_MOST_MARKS 1024
#define FL_OPEN_STACK 0x10000   // the most that one of them takes
#define FL_STACKS_SIZE 0x100000
#define FL_FILE_START 1024      // of a library's file: what is where in it, and which build it is
#define FL_FILE_NAME 256
#define FL_FILES_SIZE 0xC0000   // of the stacks' room: what is behind it is for stacks alone
#define FL_MOST_FILES 32        // of the start-up's libraries
#define FL_MOST_PATCHES 80
#define FL_TRAMPOLINES_SIZE 0x20000

// One thread's place: the recorder asks, the signal handler answers. Its FL_SLOT_SIZE bytes are
// full, and the slots fill all from FL_SLOTS to FL_RECORDS. For a field more, make FL_SLOT_SIZE the
// next power of two, and change the shift in handler.h that multiplies by it. Then halve
// FL_MOST_SLOTS, or move FL_RECORDS and all that is behind it.
struct fl_slot {
    uint32_t state;         // one of the values below
    uint32_t alternate;     // answer: 1 on an alternate signal stack; nothing was copied then
    // Written by the recorder before it asks:
    uint64_t stack_low;     // the mapping of the thread's stack as far as it is known: how much
    uint64_t stack_high;    // to copy. Elsewhere `capacity` is copied, or what there is
    uint32_t capacity;      // how many bytes of the stack may be copied
    uint32_t frames_room;   // and how many may follow them, of an interpreter's frames
    uint64_t buffer;        // where to; from the area's beginning
    // Written by the handler:
    int64_t time_ns;        // CLOCK_MONOTONIC
    int64_t cpu_ns;         // the thread's CPU clock
    uint64_t copied_start;  // the address of the first byte copied
    int64_t copied_size;    // negative: an error number
    uint64_t registers[17]; // the kernel's order: r8 … r15 rdi rsi rbp rbx rdx rax rcx rsp rip
    uint64_t vectors[4];    // scratch: process_vm_readv(2)'s two struct iovec
    // Of a thread that runs an interpreter's frames:
    uint64_t thread;        // written before it is asked: where the interpreter has the thread's state
    uint64_t frames_size;   // of a struct fl_frames behind the stack's copy (at a multiple of 8); 0: none
};

// Where an interpreter keeps its frames (FrameListLayout): distances in bytes, or FL_NOWHERE.
struct fl_frame_list {
    uint32_t newest;        // from a thread's state to the pointer to its newest frame,
    uint32_t newest_inside; // or to what has that pointer so far from its beginning
    uint32_t kernel_id;     // from a thread's state to its id
    uint32_t arena_start;   // and to the two ends of where most frames lie
    uint32_t arena_top;
    uint32_t caller;        // in a frame's record: where its caller's pointer is, and its code's
    uint32_t code;
    uint32_t part_offsets[2], part_sizes[2];    // a frame's record
    uint32_t identity_offset, identity_size;    // what tells codes apart
    uint32_t unused;
    uint64_t code_mask;     // which bits of a code's pointer are an address
};
#define FL_NOWHERE 0xFFFFFFFF

// What was found of them, followed by each frame's address and record, and then by the identities of
// the first frames' codes.
struct fl_frames {
    uint64_t thread;        // as asked for
    uint64_t kernel_id;     // as the state has it; 0: it does not
    uint64_t newest;        // as the state has it: the newest frame, or what leads to it
    uint64_t rest;          // where the next one would be; 0: these are all
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

// Eight bytes of the program's code that are written when the area settles.
struct fl_patch {
    uint64_t address;
    uint64_t word;          // what to write; where `target` is not 0, but for its first five bytes,
    uint64_t target;        // which are a jump to this place in the area; or as below
};
enum {
    FL_RESTORES = 1,        // our bootstrap stands there, and the thread goes on there
};

// The C library's system calls that concern us.
enum {
    FL_SITE_SIGACTION = 0,
    FL_SITE_SIGMASK = 1,
    FL_SITE_EXECVE = 2,
    FL_SITE_PRCTL = 3,
    FL_SITE_MLOCKALL = 4,
    FL_SITE_SYSCALL = 5,    // syscall(2), in which it may be any of them
    FL_SITE_STACK = 6,      // sigaltstack
    FL_SITE_THREAD = 7,     // set_robust_list, which a thread calls as it begins, all its signals blocked
    FL_SITES = 8,
};

// A thread that has an alternate signal stack. The kernel puts our signals' frames there: where the
// thread's stack pointer is just then, nobody can know.
struct fl_alternate {
    uint32_t tid;           // as the process knows it; 0: it is free
    uint32_t kind;          // one of the values below
};
#define FL_MOST_ALTERNATES 64
enum {
    FL_ALTERNATE_NONE = 0,      // it has none
    FL_ALTERNATE_OURS = 1,
};

// A stretch in which a thread of the program ran our code, or stood still for it.
struct fl_moment {
    int64_t time_ns;        // CLOCK_MONOTONIC; 0: it was not reached
    int64_t cpu_ns;         // the process's CPU clock
    int64_t minor_faults;   // of the process
};
struct fl_stretch {
    struct fl_moment start, end;
};
enum {
    FL_STRETCH_ENTRY = 0,       // bringing the area in; its start is after the stop
    FL_STRETCH_RELOCATED = 1,   // at the border of that name
    FL_STRETCH_MAIN = 2,
    FL_STRETCHES = 3,
};

// A timer of the kernel's that sends one thread the sampling signal at each interval of its CPU time, if
// it runs its own code then. The recorder has opened it, and asks in the slots beforehand.
#define FL_TIMER_SLOTS 8
struct fl_timer {
    uint32_t tid;           // as the process knows it; 0: there is none
    uint32_t descriptor;    // one more than the recorder's, which the signal brings along; 0: none
    uint16_t slots[FL_TIMER_SLOTS];     // the thread's own, or FL_NO_SLOT
    uint32_t signal;        // what it sends
    uint32_t unused;
};
#define FL_MOST_TIMERS 8
#define FL_NO_SLOT 0xFFFF

// The program has the kernel decide by the place of a system call whether it is made: none is made in our
// code, not even in the program's name.
#define FL_DISPATCHED 2

// What concerns the whole process.
struct fl_state {
    uint32_t phase;         // one of the values below
    uint32_t displaced;     // the program has set another action for the sampling signal
    uint32_t filtered;      // 1: the program prepares a filter for its system calls; or the next value
    int32_t outstanding;    // requests whose signals may still be on their way
    uint32_t execution;     // one of the values below
    uint32_t masks;         // how often a thread was about to block the sampling signal
    int32_t next_area;      // while a program is about to be executed: the descriptor of its area
    uint32_t gate;          // one of the values below
    uint32_t pid;           // the process's id, as it knows it itself
    uint32_t recorder;      // the recorder's id, as the process knows it; 0 where it does not
    // Written before the area settles:
    uint64_t size;          // of the area
    uint64_t cookie;        // what the upper 48 bits of our signals' values are; never 0
    uint64_t sample_signal; // 0: no stacks by signal
    uint64_t settled_flags; // of the handler's action: SA_…
    uint64_t original_handler;  // what the program is told that the signal does
    uint64_t patch_count;
    struct fl_patch patches[FL_MOST_PATCHES];
    uint64_t debug;         // the linker's struct r_debug; 0: it tells nothing
    uint64_t is_started;    // whether the start-up's libraries are loaded
    uint64_t start_pointer; // where the program has __libc_start_main's address; 0: not known
    uint64_t start_is_protected;    // whether that may not be written once it is relocated
    // Where the C library makes the system calls that concern us, from its load address; 0: not
    // known. In the order of FL_SITE_….
    uint64_t sites[FL_SITES];
    uint64_t wants_sites;   // which of them are to be led past us: bits in that order
    uint64_t island;        // where FL_ISLAND should be mapped, too; 0: nowhere. Then: where it is
    // Written by the program:
    uint64_t address;       // of the area
    int64_t settled_ns;     // when the area was ready, on CLOCK_MONOTONIC
    int64_t mapping_ns;     // when the linker began to map libraries
    int64_t gate_ns, gate_end_ns;   // when the gate was reached and passed
    uint64_t library_base;  // where the C library is whose calls were led past us
    uint64_t hooked;        // which of its calls: bits in the order of `sites`
    uint64_t hooked_words[FL_SITES];   // what was there
    uint64_t after[FL_SITES];      // where they go on
    uint64_t real_start, real_main, real_init;
    uint32_t borders;       // how many of FL_BORDER_… were noted: those of the opens' first entries
    uint32_t opens, libraries, records;
    uint32_t is_adding;
    uint32_t known;         // the length of the linker's list when it was counted last
    uint64_t ring;          // whether marks are noted
    int64_t settled_cpu_ns; // the thread's CPU clock when the area was ready
    // Another signal that is ignored by default, for a program that uses the first one itself; 0:
    // none. It is taken only then, for some programs do use it.
    uint32_t spare_signal;
    uint32_t spare;         // one of the values below
    uint64_t spare_original;    // what the program is told that it does
    uint32_t sending;       // whether the recorder is about to send a request's signal
    uint32_t stacks;        // how much of the opens' stacks is in use, in bytes
    // The thread that is about to execute another program, as the process knows it; 0: none.
    uint32_t executor;
    // Whether the program may have a handler that blocks one of our signals while it runs; or
    // FL_HANDLERS_UNKNOWN, until the thread that brings the area in has asked.
    uint32_t handlers_block;
    // Whether a program that is executed has its file's privileges, though we trace it.
    uint32_t may_gain_privileges;
    uint32_t unannounced;   // one is executed that would not, and that we do not trace
    // For other recorders, should this one be killed:
    uint64_t stays;         // whether signposts or marks lead here: somebody may always be in one
    struct fl_patch hook;   // where the linker's hook leads here, and the word that was there
    // Of a launch that is measured and not recorded:
    uint64_t is_measured;   // only the borders are noted, and what our code takes itself
    struct fl_stretch stretches[FL_STRETCHES];
    int64_t ahead_ns, followed_ns;  // when a thread began to wait for us before its execve, and went on
    // Of the arrays that the linker finds in place of the libraries' own:
    uint32_t entries;       // how many words are in use
    uint32_t has_cursors;   // whether FL_CURSORS is the process's own; without it no library is led to us
    uint32_t words;         // a static program's: how many of its initialisers' are led here
    uint32_t words_are_protected;   // whether they may not be written once they are relocated
    uint64_t gates_entry;   // whether the gate is here, for nobody tells when libraries are there
    uint64_t is_musl;       // whether the linker is musl's: it tells once at start-up, when it is through
    // Where the linker is told of the program's first instruction, if that leads here; 0: it does not.
    uint64_t entry_pointer;
    uint64_t real_entry;    // what was there
    // Written by the recorder when it has found an interpreter; all zero before.
    struct fl_frame_list frames;
    struct fl_timer timers[FL_MOST_TIMERS];     // written by the recorder
    uint32_t masking;       // how many threads are about to block the sampling signal
    // Of alternate signal stacks:
    uint32_t uses_alternates;   // 1: our handler runs on them; or the value below
    uint32_t alternate_turn;    // whose entry is looked at next when none is free
    uint32_t spare_flags;   // SA_ONSTACK if the program's own action has it that the spare signal stands in for
    uint32_t unwritten;     // whether the patches are not: one of the values below
    uint64_t alternate_size;    // of each; 0: none are made
    uint64_t alternates_at;     // where they are, one for each entry, each above a guard page
    uint64_t alternates_made;   // which entries' stacks may be accessed: bits
    struct fl_alternate alternates[FL_MOST_ALTERNATES];
};

enum {
    FL_ALTERNATES_GIVEN_UP = 2, // the program has made one of its own

    FL_HANDLERS_UNKNOWN = 2,

    FL_PHASE_EMPTY = 0,     // nobody has filled it in
    FL_PHASE_FILLED = 1,    // the recorder has
    FL_PHASE_ABANDONED = 2, // the program has waited for that in vain, or could not map it
    FL_PHASE_SETTLED = 3,   // the program uses it

    FL_EXECUTION_NONE = 0,     // or without the recorder
    FL_EXECUTION_AHEAD = 1,    // a thread is about to execute another program, and waits
    FL_EXECUTION_FOLLOWED = 2, // the recorder traces it: it may go on

    FL_GATE_OPEN = 0,
    FL_GATE_CLOSED = 1,     // a thread that comes there is to wait: when libraries are loaded, or before all
    FL_GATE_WAITING = 2,    // a thread does
    FL_GATE_PASSED = 3,     // it may go on
    FL_GATE_SERVING = 4,    // the recorder changes code meanwhile

    FL_PATCHES_WRITTEN = 0,
    FL_PATCHES_WAIT = 1,    // the program could not write them, and waits for the recorder
    FL_PATCHES_REFUSED = 2, // the recorder could not, either

    FL_SPARE_NOT_NEEDED = 0,
    FL_SPARE_IN_PLACE = 1,
    FL_SPARE_REFUSED = 2,   // the program uses that one, too
    FL_SPARE_BEGUN = 3,
};

// What the recorder leaves on the stack of a thread that it leads to an entry, below the red zone.
struct fl_diversion {
    uint64_t mask;      // the signals that it had blocked; all are while it is in the entry
    uint64_t resume;    // where it goes on
};

// What lies at the stack pointer of a thread that makes the rest of a call in our code, below the red
// zone of where it was.
struct fl_rest {
    uint64_t moved;         // how much the call has moved so far
    uint64_t rdi, rsi, rdx, r10, r8, r9;    // as they were
    uint64_t resume;        // where the thread goes on
    uint64_t number;        // of the call
    uint64_t stack_pointer; // as it was
    uint64_t flags;         // the processor's, as they were
    // Of a pipe or a socket: the kernel's struct pollfd, and what is left to be written
    int32_t descriptor;
    uint16_t events, told;
    uint64_t start, left;
    uint32_t is_socket, length;
    uint64_t limit[2];      // scratch: how long the socket waits
    uint32_t part, parts;   // of a call that writes several (rsi): the next, and how many
};

// A piece of code that stands alone for a while, in a place where the program has none of its own:
// what brings the area in, and what takes it away.
struct fl_piece {
    const uint8_t *code;
    uint32_t length;
    uint32_t words;     // where its words begin, to be filled in
};
struct fl_boot_words {
    int64_t descriptor;     // of the area's memory; -1: the thread makes it
    uint64_t place;         // where the area should be
    uint64_t size;
    uint32_t is_at_entry;   // whether it stands where the program's first instruction was
    uint32_t recorder;      // whose it is, where the thread makes it; 0: not known
};
struct fl_away_words {
    uint64_t signal;        // whose action is set, if it is ours; 0: of none
    uint64_t action[4];     // struct kernel_sigaction; the restorer is of no use
    uint64_t address, size; // of what is unmapped; 0: nothing
    uint64_t naps;          // how often it naps at most until the recorder gives its state back
    uint64_t handler;       // ours
};

struct fl_code {
    const uint8_t *code;    // the area's
    uint32_t length;
    struct fl_piece boot, away;
    // Within `away`: where a thread is that is through with it, and waits.
    uint32_t away_waiting, away_waiting_end;
    // Within the area's code:
    uint32_t arrival;           // how much of it is there before it is filled in, from its beginning
    uint32_t debug_state;   // takes _dl_debug_state's place
    uint32_t mark;          // what the trampolines of marks call
    uint32_t stand_ins[FL_SITES];  // for the C library's system calls, in the order of `sites`
    uint32_t stand_ins_end;
    uint32_t sample_handler, restorer;
    // Where the rest of a call is made: of files, from `rest_made` on it was; of pipes and sockets
    uint32_t rest, rest_made, rest_of_stream, rest_end;
    uint32_t main;          // what is called in main's place
    uint32_t entry;         // where the linker goes in place of the program's first instruction
    uint32_t thunks;        // of libraries, two each: for DT_INIT and for DT_INIT_ARRAY's words
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

// A moment at which the linker or the program told us something, and the stack of who did. The
// first three are the launch's borders, all others calls that load libraries.
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

// A library, and its original initialisers. Of a static program, a word of its arrays: `initializer` is
// what it leads to, `entries[0]` where that is written before the program relocates itself, if it does,
// and `own[0]` the word.
struct fl_library {
    uint64_t map;           // its struct link_map
    uint64_t initializer;   // DT_INIT's function; 0: none
    uint64_t array;         // DT_INIT_ARRAY's address
    uint64_t count;         // its length
    uint64_t running;       // of the one that `runs` leads to: one more than the number of the record that is not over; 0: none
    uint64_t open;          // the number of the call; 0: of the start-up
    // What the linker finds in place of the library's own entries:
    uint64_t entries[6];    // DT_INIT, DT_INIT_ARRAY, DT_INIT_ARRAYSZ, each with its value
    uint64_t own[3];        // where the library's own entries are, or with musl its section; all 0: it
                            // was not led to us
    // For who comes to read what is mapped when the process is gone already:
    uint64_t bias;          // what the linker has added to the file's addresses
    int64_t kept_size;      // how much of FL_FILE_START was copied from there; else nothing
    uint64_t kept;          // where to, from FL_STACKS; behind it its name, FL_FILE_NAME bytes at most
    uint64_t given_back;    // 1: the linker finds the library's own entries again
    uint64_t runs;          // where the number is of the record that is not over: `running`, its own or
                            // the first one's
    uint64_t unused[4];
};

// What a hit of a mark says: the beginning of it as the ring's slot has it (firstlight/signpost.h).
struct fl_mark {
    uint8_t kind, flags, name_length, category_length;
    uint32_t words;         // how many of 8 bytes the text takes
    char text[248];         // name, category
};

// Whether a call that ended with EINTR did nothing, and may be made once more. Some are given a
// length of time to wait: that begins anew, but the signal, or the stop, came as they began. It was
// meant for a thread that ran. `second`: the call's second argument. A macro, for the area's code is
// compiled for less of a processor.
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
