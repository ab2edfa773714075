#include "CAgent.h"

#if !defined(__x86_64__)
#error "Firstlight captures x86-64 programs only so far."
#endif

// Assembly, because it must not depend on what a compiler makes of it at some level of
// optimisation, and because the recorder counts on a few of its details.
//
// The entries (set_action, map_slots, unmap_slots) run in place of the instruction at which the
// recorder stopped a thread, make system calls, and go on at the continuation with every register
// and the red zone as they were. The recorder only has to move the program counter, which is one
// atomic step: whenever it dies, the program goes on correctly.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "fl_agent_begin:\n"

    // Each entry saves what a system call and it itself use, and where to go on.
    ".macro fl_save continuation\n"
    "  lea -128(%rsp), %rsp\n"
    "  pushq \\continuation(%rip)\n"
    "  pushfq\n"
    "  push %rax\n"
    "  push %rcx\n"
    "  push %rdx\n"
    "  push %rsi\n"
    "  push %rdi\n"
    "  push %r8\n"
    "  push %r9\n"
    "  push %r10\n"
    "  push %r11\n"
    ".endm\n"
    "fl_agent_resume:\n"
    "  pop %r11\n"
    "  pop %r10\n"
    "  pop %r9\n"
    "  pop %r8\n"
    "  pop %rdi\n"
    "  pop %rsi\n"
    "  pop %rdx\n"
    "  pop %rcx\n"
    "  pop %rax\n"
    "  popfq\n"
    "  ret $128\n"

    "fl_agent_set_action:\n"
    "  fl_save fl_agent_after_action\n"
    "  mov $13, %eax\n"  // rt_sigaction
    "  mov fl_agent_signal(%rip), %rdi\n"
    "  lea fl_agent_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"
    "  jmp fl_agent_resume\n"

    // memfd_create, ftruncate, mmap, rt_sigaction, close. At the close the recorder looks: the
    // descriptor is in rdi, the mapping in r9.
    "fl_agent_map_slots:\n"
    "  fl_save fl_agent_after_slots\n"
    "  mov $319, %eax\n"  // memfd_create
    "  lea fl_agent_name(%rip), %rdi\n"
    "  mov $1, %esi\n"  // MFD_CLOEXEC
    "  syscall\n"
    "  mov %eax, %r8d\n"
    "  mov $77, %eax\n"  // ftruncate
    "  mov %r8d, %edi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  syscall\n"
    "  mov $9, %eax\n"  // mmap
    "  xor %edi, %edi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  mov $3, %edx\n"  // PROT_READ | PROT_WRITE
    "  mov $1, %r10d\n"  // MAP_SHARED
    "  xor %r9d, %r9d\n"
    "  syscall\n"
    "  mov %rax, %r9\n"
    "  mov $13, %eax\n"  // rt_sigaction
    "  mov fl_agent_sample_signal(%rip), %rdi\n"
    "  lea fl_agent_sample_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"
    "  mov $3, %eax\n"  // close
    "  mov %r8d, %edi\n"
    "  syscall\n"
    "fl_agent_closed:\n"
    "  jmp fl_agent_resume\n"

    "fl_agent_unmap_slots:\n"
    "  fl_save fl_agent_after_slots\n"
    "  mov $13, %eax\n"  // rt_sigaction
    "  mov fl_agent_sample_signal(%rip), %rdi\n"
    "  lea fl_agent_sample_action(%rip), %rsi\n"
    "  xor %edx, %edx\n"
    "  mov $8, %r10d\n"
    "  syscall\n"
    "  mov $11, %eax\n"  // munmap
    "  mov fl_agent_old_slots(%rip), %rdi\n"
    "  mov fl_agent_slots_size(%rip), %rsi\n"
    "  syscall\n"
    "  jmp fl_agent_resume\n"

    // The kernel sets the resume flag when a debug register's breakpoint is hit, so that the
    // instruction executes when this returns.
    "fl_agent_trap_handler:\n"
    "  ret\n"

    "fl_agent_restorer:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"

    // (signal, siginfo, ucontext). Only a request of the recorder's names a slot that waits for
    // it; everything else is the program's own business, and ignored as without us. Uses only
    // registers that a function may change.
    "fl_agent_sample_handler:\n"
    "  cmpl $-1, 8(%rsi)\n"  // si_code: SI_QUEUE
    "  jne 9f\n"
    "  mov 24(%rsi), %r8\n"  // si_value
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 9f\n"
    "  mov %r8, %rax\n"
    "  sub %rcx, %rax\n"
    "  cmp fl_agent_slots_size(%rip), %rax\n"
    "  jae 9f\n"
    "  test fl_agent_slot_mask(%rip), %rax\n"
    "  jne 9f\n"
    "  mov $1, %eax\n"  // FL_SLOT_REQUESTED
    "  mov $2, %ecx\n"  // FL_SLOT_BUSY
    "  lock cmpxchg %ecx, (%r8)\n"
    "  jne 9f\n"
    // The registers from uc_mcontext (<asm/sigcontext.h>), into DWARF's order.
    ".macro fl_copy from, to\n"
    "  mov \\from(%rdx), %rax\n"
    "  mov %rax, (48 + 8 * \\to)(%r8)\n"
    ".endm\n"
    "  fl_copy 144, 0\n"   // rax
    "  fl_copy 136, 1\n"   // rdx
    "  fl_copy 152, 2\n"   // rcx
    "  fl_copy 128, 3\n"   // rbx
    "  fl_copy 112, 4\n"   // rsi
    "  fl_copy 104, 5\n"   // rdi
    "  fl_copy 120, 6\n"   // rbp
    "  fl_copy 160, 7\n"   // rsp
    "  fl_copy 40, 8\n"    // r8 …
    "  fl_copy 48, 9\n"
    "  fl_copy 56, 10\n"
    "  fl_copy 64, 11\n"
    "  fl_copy 72, 12\n"
    "  fl_copy 80, 13\n"
    "  fl_copy 88, 14\n"
    "  fl_copy 96, 15\n"   // … r15
    "  fl_copy 168, 16\n"  // rip
    "  movq $0, 32(%r8)\n"
    "  movq $0, 40(%r8)\n"
    "  cmpl $0, 4(%r8)\n"  // may_call
    "  je 1f\n"
    "  sub $24, %rsp\n"
    ".macro fl_clock clock, to\n"
    "  mov $228, %eax\n"  // clock_gettime
    "  mov $\\clock, %edi\n"
    "  mov %rsp, %rsi\n"
    "  syscall\n"
    "  imul $1000000000, (%rsp), %rax\n"
    "  add 8(%rsp), %rax\n"
    "  mov %rax, \\to(%r8)\n"
    ".endm\n"
    "  fl_clock 3, 40\n"  // CLOCK_THREAD_CPUTIME_ID
    "  fl_clock 1, 32\n"  // CLOCK_MONOTONIC
    "  add $24, %rsp\n"
    // The stack from the red zone up, within its bounds and the slot's capacity.
    "1:\n"
    "  mov 104(%r8), %rsi\n"  // rsp
    "  xor %ecx, %ecx\n"
    "  mov %rsi, %rax\n"
    "  sub 8(%r8), %rax\n"  // stack_low
    "  jb 3f\n"
    "  cmp 16(%r8), %rsi\n"  // stack_high
    "  jae 3f\n"
    "  cmp $128, %rax\n"
    "  jbe 2f\n"
    "  mov $128, %eax\n"
    "2:\n"
    "  sub %rax, %rsi\n"
    "  mov 16(%r8), %rcx\n"
    "  sub %rsi, %rcx\n"
    "  cmp 24(%r8), %rcx\n"  // capacity
    "  cmova 24(%r8), %rcx\n"
    "3:\n"
    "  mov %rsi, 184(%r8)\n"  // copied_start
    "  mov %rcx, 192(%r8)\n"  // copied_size
    "  lea 200(%r8), %rdi\n"
    "  rep movsb\n"
    "  movl $3, (%r8)\n"  // FL_SLOT_FILLED; x86-64 keeps the stores in order
    "9:\n"
    "  ret\n"

    // Reached from the C library's one rt_sigaction call, in place of the instruction that loads
    // the call's number. The program must not notice our handler, nor we displace one of its own
    // unknowingly: asked what the signal does, it gets its own answer; setting another action is
    // noted, and ends the requests.
    "fl_agent_sigaction:\n"
    "  mov $13, %eax\n"
    "  cmp fl_agent_sample_signal(%rip), %edi\n"
    "  je 1f\n"
    "  syscall\n"
    "  jmp *fl_agent_after_sigaction(%rip)\n"
    "1:\n"
    "  test %rsi, %rsi\n"
    "  je 2f\n"
    "  mov fl_agent_slots(%rip), %rcx\n"
    "  test %rcx, %rcx\n"
    "  je 2f\n"
    "  movl $1, (%rcx)\n"  // the first slot's state: displaced
    "2:\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jne 3f\n"
    "  test %rdx, %rdx\n"
    "  je 3f\n"
    "  lea fl_agent_sample_handler(%rip), %rcx\n"
    "  cmp %rcx, (%rdx)\n"
    "  jne 3f\n"
    "  mov fl_agent_original_handler(%rip), %rcx\n"
    "  mov %rcx, (%rdx)\n"
    "  movq $0, 8(%rdx)\n"
    "3:\n"
    "  jmp *fl_agent_after_sigaction(%rip)\n"

    "fl_agent_name: .asciz \"firstlight\"\n"
    ".balign 8\n"
    "fl_agent_signal: .quad 0\n"
    "fl_agent_action: .quad 0, 0, 0, 0\n"
    "fl_agent_slots: .quad 0\n"
    "fl_agent_slots_size: .quad 0\n"
    "fl_agent_slot_mask: .quad 0\n"
    "fl_agent_sample_signal: .quad 0\n"
    "fl_agent_sample_action: .quad 0, 0, 0, 0\n"
    "fl_agent_old_slots: .quad 0\n"
    "fl_agent_original_handler: .quad 0\n"
    "fl_agent_after_sigaction: .quad 0\n"
    "fl_agent_after_action: .quad 0\n"
    "fl_agent_after_slots: .quad 0\n"
    "fl_agent_end:\n"
    ".previous\n");

_Static_assert(offsetof(struct fl_slot, may_call) == 4, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, stack_low) == 8, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, stack_high) == 16, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, capacity) == 24, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, time_ns) == 32, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, cpu_ns) == 40, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, registers) == 48, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, copied_start) == 184, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, copied_size) == 192, "the handler counts on it");
_Static_assert(offsetof(struct fl_slot, stack) == 200, "the handler counts on it");

extern const uint8_t fl_agent_begin[], fl_agent_end[], fl_agent_set_action[],
    fl_agent_map_slots[], fl_agent_closed[], fl_agent_unmap_slots[], fl_agent_trap_handler[],
    fl_agent_sample_handler[], fl_agent_restorer[], fl_agent_signal[], fl_agent_action[],
    fl_agent_slots[], fl_agent_slots_size[], fl_agent_slot_mask[], fl_agent_sample_signal[],
    fl_agent_sample_action[], fl_agent_after_action[], fl_agent_after_slots[],
    fl_agent_old_slots[], fl_agent_sigaction[], fl_agent_original_handler[], fl_agent_after_sigaction[];

static uint32_t offset(const uint8_t *symbol) { return (uint32_t)(symbol - fl_agent_begin); }

struct fl_agent fl_agent_describe(void) {
    return (struct fl_agent){
        .code = fl_agent_begin,
        .length = offset(fl_agent_end),
        .set_action = offset(fl_agent_set_action),
        .map_slots = offset(fl_agent_map_slots),
        .closed = offset(fl_agent_closed),
        .unmap_slots = offset(fl_agent_unmap_slots),
        .trap_handler = offset(fl_agent_trap_handler),
        .sample_handler = offset(fl_agent_sample_handler),
        .restorer = offset(fl_agent_restorer),
        .signal = offset(fl_agent_signal),
        .action = offset(fl_agent_action),
        .slots = offset(fl_agent_slots),
        .slots_size = offset(fl_agent_slots_size),
        .slot_mask = offset(fl_agent_slot_mask),
        .sample_signal = offset(fl_agent_sample_signal),
        .sample_action = offset(fl_agent_sample_action),
        .sigaction = offset(fl_agent_sigaction),
        .old_slots = offset(fl_agent_old_slots),
        .original_handler = offset(fl_agent_original_handler),
        .after_sigaction = offset(fl_agent_after_sigaction),
        .after_action = offset(fl_agent_after_action),
        .after_slots = offset(fl_agent_after_slots),
    };
}
