#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// fl_agent_set_action runs in place of the instruction at which the recorder stopped a thread:
// it sets the action of SIGTRAP by a system call of its own and goes on at the continuation with
// every register and the red zone as they were. The recorder only has to move the program
// counter, which is one atomic step: whenever the recorder dies, the program goes on correctly.
//
// The handler returns at once: the kernel sets the resume flag when a debug register's
// breakpoint is hit, so that the instruction then executes.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "fl_agent_begin:\n"
    "fl_agent_set_action:\n"
    "  lea -128(%rsp), %rsp\n"
    "  pushfq\n"
    "  push %rax\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rdi\n"
    "  push %r10\n"
    "  push %r11\n"
    "  mov $13, %eax\n"  // rt_sigaction
    "  mov $5, %edi\n"   // SIGTRAP
    "  lea fl_agent_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"
    "  pop %r11\n"
    "  pop %r10\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  popfq\n"
    "  lea 128(%rsp), %rsp\n"
    "  jmp *fl_agent_continuation(%rip)\n"
    "fl_agent_trap_handler:\n"
    "  ret\n"
    "fl_agent_restorer:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"
    ".balign 8\n"
    "fl_agent_action: .quad 0, 0, 0, 0\n"
    "fl_agent_continuation: .quad 0\n"
    "fl_agent_end:\n"
    ".previous\n");

extern const uint8_t fl_agent_begin[], fl_agent_end[], fl_agent_set_action[],
    fl_agent_trap_handler[], fl_agent_restorer[], fl_agent_action[], fl_agent_continuation[];

struct fl_agent fl_agent_describe(void) {
    return (struct fl_agent){
        .code = fl_agent_begin,
        .length = (uint32_t)(fl_agent_end - fl_agent_begin),
        .set_action = (uint32_t)(fl_agent_set_action - fl_agent_begin),
        .trap_handler = (uint32_t)(fl_agent_trap_handler - fl_agent_begin),
        .restorer = (uint32_t)(fl_agent_restorer - fl_agent_begin),
        .action = (uint32_t)(fl_agent_action - fl_agent_begin),
        .continuation = (uint32_t)(fl_agent_continuation - fl_agent_begin),
    };
}
