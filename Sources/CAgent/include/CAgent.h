// Code that runs inside the profiled program. It is freestanding and position-independent: the
// recorder copies it into the program's address space and fills in the words named below. It
// calls nothing and touches no memory but the thread's own stack.
#pragma once
#include <stdint.h>

struct fl_agent {
    const uint8_t *code;
    uint32_t length;
    // Offsets within the code:
    uint32_t set_action;    // entry: sets SIGTRAP's action, then jumps to the continuation
    uint32_t trap_handler;  // the handler: returns
    uint32_t restorer;      // rt_sigreturn, as the kernel's ABI wants it
    uint32_t action;        // struct kernel_sigaction: 4 words to fill in
    uint32_t continuation;  // 1 word to fill in: where to go on afterwards
};

struct fl_agent fl_agent_describe(void);
