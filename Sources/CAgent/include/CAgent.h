// Code that runs inside the profiled program. It is freestanding and position-independent: the
// recorder copies it into the program's address space and fills in the words named below. It
// calls nothing, and touches no memory but the thread's own stack and the shared slots.
#pragma once
#include <stddef.h>
#include <stdint.h>

// One thread's place in the memory that the program and the recorder share: the recorder asks,
// the signal handler answers.
struct fl_slot {
    uint32_t state;         // one of the values below
    // Written by the recorder before it asks:
    uint32_t may_call;      // system calls are allowed (there is no seccomp filter)
    uint64_t stack_low;     // the mapping of the thread's stack: only within it is read
    uint64_t stack_high;
    uint64_t capacity;      // how many bytes `stack` holds
    // Written by the handler:
    int64_t time_ns;        // CLOCK_MONOTONIC; 0 where calls are not allowed
    int64_t cpu_ns;         // the thread's CPU clock; 0 where calls are not allowed
    uint64_t registers[17]; // in DWARF's order, rip last
    uint64_t copied_start;  // the address of the first byte in `stack`
    uint64_t copied_size;
    uint8_t stack[];
};

enum {
    FL_SLOT_IDLE = 0,
    FL_SLOT_REQUESTED = 1,  // the signal is on its way
    FL_SLOT_BUSY = 2,       // the handler is at work
    FL_SLOT_FILLED = 3,     // the answer is there
};

// The first slot answers no requests: its state becomes 1 when the program sets another action
// for the sampling signal.

struct fl_agent {
    const uint8_t *code;
    uint32_t length;
    // Offsets within the code.
    // Entries, at which a stopped thread is made to go on:
    uint32_t set_action;    // sets a signal's action; goes on at after_action
    uint32_t map_slots;     // makes and maps the slots, sets the sampling signal's action;
                            // goes on at after_slots
    uint32_t closed;        // where map_slots is when the kernel has its call to close
    uint32_t unmap_slots;   // sets the sampling signal's action and unmaps the slots; the same
    uint32_t sigaction;     // stands in for the C library's rt_sigaction call
    // Handlers, and what the kernel's ABI wants beside them:
    uint32_t trap_handler;    // returns
    uint32_t sample_handler;  // fills a slot
    uint32_t restorer;        // rt_sigreturn
    // Words to fill in; an action is a struct kernel_sigaction of 4 words:
    uint32_t signal, action;
    uint32_t slots;         // where the slots were mapped; 0: every request is ignored
    uint32_t slots_size;    // in bytes
    uint32_t slot_mask;     // a slot's size (a power of two) - 1
    uint32_t sample_signal, sample_action;
    uint32_t old_slots;     // what unmap_slots unmaps
    uint32_t original_handler;  // what the program is told that the sampling signal does
    uint32_t after_action, after_slots, after_sigaction;  // where to go on
};

struct fl_agent fl_agent_describe(void);
