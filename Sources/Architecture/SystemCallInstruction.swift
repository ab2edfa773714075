/// The instruction for a system call with the one before it, in the form that the C library's
/// functions use. The call returns to the place right behind it.
package struct SystemCallInstruction: Hashable, Sendable {
    /// The call's number, if the instruction before loads it; nil: it is unknown.
    package let number: Int32?

    /// `mov $NUMBER, %eax; syscall`, or `xor %eax, %eax; syscall`.
    @inlinable package static var length: Int { 7 }

    /// With the loads that may be between the two: glibc's functions for several threads fetch one
    /// or two arguments back from the stack there.
    private static let longest = length + mostLoads * 5
    private static let mostLoads = 2

    /// nil: it is no system call.
    ///
    /// - Parameter code: ``length`` bytes or more, up to the end of the instruction.
    package init?(_ code: [UInt8]) {
        guard code.count >= Self.length, code.suffix(2) == [0x0F, 0x05] else { return nil }
        var end = code.count - 2
        for _ in 0..<Self.mostLoads { end -= Self.lengthOfLoad(code[..<end]) }
        if end >= 5, code[end - 5] == Self.load {
            number = code.int32(at: end - 4)
        } else {
            number = end >= 2 && code[end - 2] == 0x31 && code[end - 1] == 0xC0 ? 0 : nil
        }
    }

    /// The instruction that ends at an address; nil: there is none, or the code cannot be read.
    ///
    /// - Parameter code: returns the requested number of the program's bytes from an address on; a
    ///   different number if they cannot be read.
    package static func ending(
        at address: UInt64, code: (UInt64, Int) -> [UInt8]
    ) -> SystemCallInstruction? {
        for length in [longest, length] {
            let bytes = code(address &- UInt64(length), length)
            if bytes.count == length { return SystemCallInstruction(bytes) }
        }
        return nil
    }

    /// The length of `mov N(%rsp), %edi`, `mov N(%rsp), %rsi` or `mov N(%rsp), %rdx` at the end; 0:
    /// there is none.
    private static func lengthOfLoad(_ code: ArraySlice<UInt8>) -> Int {
        if code.dropLast().suffix(3) == [0x8B, 0x7C, 0x24] { return 4 }
        let last = code.dropLast().suffix(4)
        return last == [0x48, 0x8B, 0x74, 0x24] || last == [0x48, 0x8B, 0x54, 0x24] ? 5 : 0
    }

    /// `mov $NUMBER, %eax`, without the number.
    @inlinable static var load: UInt8 { 0xB8 }

    // MARK: As a patch

    /// `mov $NUMBER, %eax`, which a jump can replace: five bytes, as the low ones of a word.
    package static func load(of call: SystemCall) -> UInt64 {
        UInt64(load) | UInt64(UInt32(bitPattern: call.rawValue)) << 8
    }

    /// `mov 8(%rsp), %r9`, the instruction before the call in syscall(2): it loads the last
    /// argument. It is as long as the other load.
    @inlinable package static var loadOfLastArgument: UInt64 { 0x08_244C_8B4C }

    /// Both instructions.
    ///
    /// - Parameter load: the first one.
    package static func code(after load: UInt64) -> [UInt8] {
        load.codeBytes[..<loadLength] + CodeBytes.systemCall
    }

    private static let loadLength = 5

    // MARK: Return from a signal's handler

    /// `mov $15, %rax` (or `%eax`), `syscall`: rt_sigreturn, as C libraries and Go write it.
    package static let signalReturns: [[UInt8]] = [
        [0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0] + CodeBytes.systemCall,
        code(after: load(of: .rt_sigreturn)),
    ]
}
