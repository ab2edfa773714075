/// The code right before the place that a system call returns to.
struct CallInstruction: Hashable, Sendable {
    /// The call's, where the instruction before loads it, as the C library's functions do; nil: it cannot
    /// be told.
    let number: Int32?

    /// `mov $NUMBER, %eax; syscall`, or `xor %eax, %eax; syscall`.
    static let length = 7

    /// nil: it is no system call, or the code could not be read.
    ///
    /// - Parameter code: ``length`` bytes.
    init?(_ code: [UInt8]) {
        guard code.count == Self.length, code[5] == 0x0F, code[6] == 0x05 else { return nil }
        if code[0] == 0xB8 {
            let value = code[1...4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            number = Int32(bitPattern: value)
        } else {
            number = code[3] == 0x31 && code[4] == 0xC0 ? 0 : nil
        }
    }
}
