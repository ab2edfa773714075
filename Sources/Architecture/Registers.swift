/// A thread's general registers, by their DWARF numbers, and which of them are known.
///
/// If a thread was read without stopping it, only its stack pointer and program counter are known.
package struct Registers: Equatable, Sendable {
    @inlinable package static var count: Int { 17 }
    /// The register for results of functions and system calls.
    @inlinable package static var result: Int { Register.rax }
    @inlinable package static var framePointer: Int { Register.rbp }
    @inlinable package static var stackPointer: Int { Register.rsp }
    /// DWARF's return address column; here it holds the program counter.
    @inlinable package static var programCounter: Int { Register.rip }
    /// The register with the address after a system call's instruction: the instruction stores it
    /// there (but not with FRED).
    @inlinable package static var callReturn: Int { Register.rcx }
    /// Functions preserve it, though elfutils' defaults do not say so.
    @inlinable package static var unlistedPreserved: Int { Register.rbx }

    private var values: InlineArray<17, UInt64>
    private var known: UInt32

    /// All unknown.
    package init() {
        values = InlineArray(repeating: 0)
        known = 0
    }

    /// Only a thread's position, from `/proc/PID/task/TID/syscall` of a blocked thread.
    package init(programCounter: UInt64, stackPointer: UInt64) {
        self.init()
        self[Self.programCounter] = programCounter
        self[Self.stackPointer] = stackPointer
    }

    /// nil: unknown. Numbers outside `0 ..< 17` (vector registers) are always unknown.
    package subscript(number: Int) -> UInt64? {
        get {
            guard number >= 0, number < Self.count, known & (1 << UInt32(number)) != 0 else {
                return nil
            }
            return values[number]
        }
        set {
            guard number >= 0, number < Self.count else { return }
            if let newValue {
                values[number] = newValue
                known |= 1 << UInt32(number)
            } else {
                known &= ~(1 << UInt32(number))
            }
        }
    }

    /// True if the same registers are known, and have the same values.
    package static func == (one: Registers, other: Registers) -> Bool {
        (0..<count).allSatisfy { one[$0] == other[$0] }
    }

    package var programCounter: UInt64 { values[Self.programCounter] }
    package var stackPointer: UInt64 { values[Self.stackPointer] }
    package var framePointer: UInt64? { self[Self.framePointer] }

    /// An argument of the system call that a thread is in, or was in just now.
    ///
    /// - Parameter position: the first one's is 0.
    package func argument(_ position: Int) -> UInt64? {
        RegisterOrder.arguments.indices.contains(position)
            ? self[RegisterOrder.arguments[position]] : nil
    }
}

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
