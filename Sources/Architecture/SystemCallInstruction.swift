/// The instruction for a system call with the one before it, as the C library's functions make calls.
/// Right behind it is the place that the call returns to.
package struct SystemCallInstruction: Hashable, Sendable {
    /// The call's, where the instruction before loads it; nil: it cannot be told.
    package let number: Int32?

    /// `mov $NUMBER, %eax; syscall`, or `xor %eax, %eax; syscall`.
    @inlinable package static var length: Int { 7 }

    /// nil: it is no system call, or the code could not be read.
    ///
    /// - Parameter code: ``length`` bytes.
    package init?(_ code: [UInt8]) {
        guard code.count == Self.length, code[5] == 0x0F, code[6] == 0x05 else { return nil }
        if code[0] == Self.load {
            number = code.int32(at: 1)
        } else {
            number = code[3] == 0x31 && code[4] == 0xC0 ? 0 : nil
        }
    }

    /// `mov $NUMBER, %eax`, without the number.
    @inlinable static var load: UInt8 { 0xB8 }

    // MARK: As a patch

    /// `mov $NUMBER, %eax`, whose place a jump can take: five bytes, as the low ones of a word.
    package static func load(of call: SystemCall) -> UInt64 {
        UInt64(load) | UInt64(UInt32(bitPattern: call.rawValue)) << 8
    }

    /// `mov 8(%rsp), %r9`, which syscall(2) has before the instruction: it loads the last argument.
    /// As long as the other.
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
