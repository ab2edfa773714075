// nocfi: assembler functions without unwind rules, as hand-written code has them. A leaf that
// leaves the stack alone computes for ~50 ms, called straight from main, then again through a
// function with a frame record.
// Truth: leaf_cpu (called from main), framed_cpu (called through framed_without_cfi).
#include "fixture.h"

#ifndef __x86_64__
#error "nocfi.c is written for x86-64"
#endif

/// Computes like BURN.
uint64_t leaf_without_cfi(uint64_t state, uint64_t rounds);
/// Calls leaf_without_cfi with its own arguments; keeps RBP as the frame pointer.
uint64_t framed_without_cfi(uint64_t state, uint64_t rounds);

__asm__(
    ".text\n"
    ".globl leaf_without_cfi\n"
    ".type leaf_without_cfi, @function\n"
    "leaf_without_cfi:\n"
    "    mov %rdi, %rax\n"
    "1:  mov %rax, %rdx\n"
    "    shl $13, %rdx\n"
    "    xor %rdx, %rax\n"
    "    mov %rax, %rdx\n"
    "    shr $7, %rdx\n"
    "    xor %rdx, %rax\n"
    "    mov %rax, %rdx\n"
    "    shl $17, %rdx\n"
    "    xor %rdx, %rax\n"
    "    dec %rsi\n"
    "    jnz 1b\n"
    "    ret\n"
    ".size leaf_without_cfi, . - leaf_without_cfi\n"
    ".globl framed_without_cfi\n"
    ".type framed_without_cfi, @function\n"
    "framed_without_cfi:\n"
    "    push %rbp\n"
    "    mov %rsp, %rbp\n"
    "    sub $64, %rsp\n"
    "    call leaf_without_cfi\n"
    "    leave\n"
    "    ret\n"
    ".size framed_without_cfi, . - framed_without_cfi\n");

int main(void) {
    int64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    uint64_t checksum = leaf_without_cfi(1, 50 * ROUNDS_PER_MS);
    int64_t between = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    checksum ^= framed_without_cfi(2, 50 * ROUNDS_PER_MS);
    truth_set("leaf_cpu", between - start);
    truth_set("framed_cpu", nanoseconds(CLOCK_THREAD_CPUTIME_ID) - between);
    printf("checksum %016llx\n", (unsigned long long)checksum);
    truth_write();
    return 0;
}
