# Frames that only expressions explain: a realigned stack, a signal frame, a saved register far away.
    .text
    .globl realigned
    .type realigned, @function
realigned:
    .cfi_startproc
    lea 8(%rsp), %r10
    .cfi_def_cfa r10, 0
    and $-32, %rsp
    push -8(%r10)
    push %rbp
    .cfi_escape 0x10, 0x6, 0x2, 0x76, 0
    mov %rsp, %rbp
    push %r10
    .cfi_escape 0xf, 0x3, 0x76, 0x78, 0x6
    nop
    pop %r10
    .cfi_def_cfa r10, 0
    pop %rbp
    lea -8(%r10), %rsp
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size realigned, . - realigned

    .globl handled
    .type handled, @function
handled:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa rsp, 160
    .cfi_offset rip, -8
    .cfi_offset rsp, -16
    .cfi_val_offset rbx, -24
    nop
    .cfi_remember_state
    .cfi_same_value rbp
    .cfi_undefined r15
    nop
    .cfi_restore_state
    .cfi_register r12, r13
    nop
    mov $15, %eax
    syscall
    .cfi_endproc
    .size handled, . - handled

    .globl without
    .type without, @function
without:
    call realigned@PLT
    ret
    .size without, . - without
    .section .note.GNU-stack, "", @progbits
