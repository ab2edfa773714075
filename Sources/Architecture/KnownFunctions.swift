/// Functions in assembly whose frames no table describes. Their shapes are always the same.

/// The `_init` of crti.o (glibc's sysdeps/x86_64/crti.S and crtn.S): `sub $8, %rsp`, calls, `add $8,
/// %rsp`, `ret`, perhaps after a mark for indirect branches.
package struct InitFunction {
    /// The length of its mark and of its first instruction together, in bytes.
    @inlinable package static var headLength: Int { 8 }

    /// The length of its first instruction, in bytes.
    private let first: Int

    /// nil: it has another shape.
    ///
    /// - Parameter head: ``headLength`` bytes, or fewer if the code ends before.
    package init?(head: [UInt8]) {
        first = head.landingMarkLength
        guard head.dropFirst(first).starts(with: [0x48, 0x83, 0xEC, 0x08]) else { return nil }
    }

    /// How far the canonical frame address is above the stack pointer.
    ///
    /// - Parameters:
    ///   - offset: the offset of an instruction in the function.
    ///   - code: the instruction's first byte.
    package func frameSize(at offset: Int, code: [UInt8]?) -> Int32 {
        offset <= first || code == CodeBytes.return ? 8 : 16
    }
}

/// Go's `asmcgocall` calls a C function through rax, on the thread's own stack. If it was on that stack
/// already, it restores its stack pointer after the call: `mov N(%rsp), %rsi; mov %rsi, %rsp`. If not,
/// it returns to a goroutine's stack, and its frame is the first on this stack.
package enum GoCallToC: Equatable {
    /// Its stack pointer is saved this many bytes above the stack pointer.
    case onSameStack(Int32)
    case onOtherStack

    /// The call's length.
    @inlinable package static var callLength: Int { 2 }
    /// The number of bytes that are needed after the call.
    @inlinable package static var restLength: Int { 8 }

    /// nil: it is another call.
    package init?(call: [UInt8]?, rest: [UInt8]?) {
        guard call == [0xFF, 0xD0], let rest else { return nil }
        guard rest.starts(with: [0x48, 0x8B, 0x74, 0x24]), rest[5...] == [0x48, 0x89, 0xF4],
            rest[4] < 0x80
        else {
            self = .onOtherStack
            return
        }
        self = .onSameStack(Int32(rest[4]))
    }
}
