/// The DWARF numbers of the registers (psABI, "DWARF Register Number Mapping").
@usableFromInline
enum Register {
    @inlinable static var rax: Int { 0 }
    @inlinable static var rdx: Int { 1 }
    @inlinable static var rcx: Int { 2 }
    @inlinable static var rbx: Int { 3 }
    @inlinable static var rsi: Int { 4 }
    @inlinable static var rdi: Int { 5 }
    @inlinable static var rbp: Int { 6 }
    @inlinable static var rsp: Int { 7 }
    @inlinable static var r8: Int { 8 }
    @inlinable static var r9: Int { 9 }
    @inlinable static var r10: Int { 10 }
    @inlinable static var r11: Int { 11 }
    @inlinable static var r12: Int { 12 }
    @inlinable static var r13: Int { 13 }
    @inlinable static var r14: Int { 14 }
    @inlinable static var r15: Int { 15 }
    @inlinable static var rip: Int { 16 }
}

/// The orders in which other code stores the registers, by their DWARF numbers.
package enum RegisterOrder {
    /// A system call's arguments.
    package static let arguments = [
        Register.rdi, Register.rsi, Register.rdx, Register.r10, Register.r8, Register.r9,
    ]

    /// The bits of perf's masks (`enum perf_event_x86_regs`); nil: unwinding does not use it (flags,
    /// segments).
    package static let perfBits: [Int?] = [
        Register.rax, Register.rbx, Register.rcx, Register.rdx, Register.rsi, Register.rdi,
        Register.rbp, Register.rsp, Register.rip, nil, nil, nil, nil, nil, nil, nil, Register.r8,
        Register.r9, Register.r10, Register.r11, Register.r12, Register.r13, Register.r14,
        Register.r15,
    ]

    /// In the kernel's samples, if all registers that unwinding uses are requested.
    package static let samples = perfBits.compactMap(\.self)

    /// In the context that the kernel saves for a signal handler (<asm/sigcontext.h>).
    package static let signalContext = [
        Register.r8, Register.r9, Register.r10, Register.r11, Register.r12, Register.r13,
        Register.r14, Register.r15, Register.rdi, Register.rsi, Register.rbp, Register.rbx,
        Register.rdx, Register.rax, Register.rcx, Register.rsp, Register.rip,
    ]

    /// The registers that a function preserves, and its address; as our code in the program records
    /// them.
    package static let preserved = [
        Register.rsp, Register.rip, Register.rbp, Register.rbx, Register.r12, Register.r13,
        Register.r14, Register.r15,
    ]
}
