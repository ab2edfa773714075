import TestSupport

/// Code whose every rule is known, because it was written by hand.
enum Assembly {
    static let source = """
        .text
        .globl plain, plain_saved, plain_framed, plain_after
        plain:
            .cfi_startproc
            nop
            push %rbp
            .cfi_def_cfa_offset 16
            .cfi_offset %rbp, -16
        plain_saved:
            mov %rsp, %rbp
            .cfi_def_cfa_register %rbp
        plain_framed:
            nop
            pop %rbp
            .cfi_def_cfa %rsp, 8
            .cfi_restore %rbp
        plain_after:
            ret
            .cfi_endproc

        entry:
            .cfi_startproc
            .cfi_undefined %rip
            nop
            hlt
            .cfi_endproc

        expression:
            .cfi_startproc
            .cfi_escape 0x0f, 3, 0x77, 8, 0x06
            nop
            ret
            .cfi_endproc

        absolute:
            .cfi_startproc
            .cfi_escape 0x0f, 3, 0x77, 16, 0x19
            nop
            ret
            .cfi_endproc

        dividing:
            .cfi_startproc
            .cfi_escape 0x0f, 14, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b, 0x77, 8
            nop
            ret
            .cfi_endproc

        far_register:
            .cfi_startproc
            .cfi_escape 0x09, 3, 0x80, 0x80, 0x80, 0x80, 1
            nop
            ret
            .cfi_endproc

        endless:
            .cfi_startproc
            .cfi_escape 0x0f, 5, 0x77, 8, 0x2f, 0xfd, 0xff
            nop
            ret
            .cfi_endproc

        popped:
            .cfi_startproc
            .cfi_def_cfa %rsp, 8
            .cfi_offset %rbp, -16
            nop
            ret
            .cfi_endproc

        realigned:
            .cfi_startproc
            .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
            .cfi_escape 0x10, 6, 2, 0x76, 0
            nop
            ret
            .cfi_endproc

        realigned_popped:
            .cfi_startproc
            .cfi_escape 0x10, 6, 2, 0x76, 0
            nop
            ret
            .cfi_endproc

        never_back:
            .cfi_startproc
            sub $24, %rsp
            .cfi_def_cfa_offset 32
            call bare
            .cfi_endproc
        behind_never_back:
            .cfi_startproc
            nop
            ret
            .cfi_endproc

        expression_call:
            .cfi_startproc
            .cfi_escape 0x0f, 3, 0x77, 8, 0x06
            call bare
        expression_call_after:
            nop
            ret
            .cfi_endproc

        other_register:
            .cfi_startproc
            .cfi_def_cfa %r10, 8
            nop
            ret
            .cfi_endproc

        handler_return:
            .cfi_startproc
            .cfi_signal_frame
            nop
            ret
            .cfi_endproc

        lost_frame_pointer:
            .cfi_startproc
            .cfi_undefined %rbp
            nop
            ret
            .cfi_endproc

            .balign 16
        bare:
            nop
            nop
        direct:
            call bare
        direct_after:
            nop
            call *%rax
        register_after:
            nop
            call *%r11
        extended_after:
            nop
            call *8(%rbx)
        short_after:
            nop
            call *0x12345(%rbx, %rcx, 8)
        long_after:
            nop
            call *bare(%rip)
        table_after:
            nop
            nop
            nop
            nop
            nop
            nop
            nop
        no_call:
            jmp bare
            jmp *%rax
            nop
            nop
            nop
            nop
            nop
            nop
        jumped:
            nop

            .balign 16
            .globl exit
            .type exit, @function
        exit:
            ret
            .size exit, 1
            .set own_exit, exit
            call *%rbx
        main_returned:
            mov %eax, %edi
            call own_exit
            call *(%rbx)
        thread_returned:
            mov %rax, %rdi
            call own_exit
            call *(%rax)
        narrow_returned:
            movslq %eax, %rdi
            call own_exit
            call *%rbx
        goes_on:
            mov %eax, %edi
            call bare
            call *%rbx
        other_value:
            mov %edx, %edi
            call own_exit
            nop
            nop
            nop
            nop
            nop
            nop
            nop
        nothing_called:
            mov %eax, %edi
            call own_exit

            .balign 16
        restorer:
            mov $15, %rax
            syscall
        short_restorer:
            mov $15, %eax
            syscall
        cloner:
            mov $56, %eax
            syscall
        cloner_after:
            nop
            nop
            nop

        stays:
            .cfi_startproc
            nop
            ret
            .cfi_endproc
        leaves:
            .cfi_startproc
            jmp *%rax
            .cfi_endproc
        caller:
            call stays
        stays_after:
            nop
            call leaves
        leaves_after:
            nop
            nop

        """

    /// Assembled once; each test gets a file of its own.
    static let library = Result { () throws -> (bytes: [UInt8], symbols: [String: UInt64]) in
        let scratch = try Scratch()
        let path = try scratch.assemble(source, as: "rules.so")
        return (readBytes(path), try scratch.symbols(of: path))
    }
}
