/// Finds `main` from the program's entry point, so that stripped programs work too.
///
/// Every glibc `_start` for x86-64 loads `main`'s address into the first argument register of
/// its one call, `__libc_start_main` (sysdeps/x86_64/start.S). Only a handful of instructions
/// do that; reading them is cheaper than stepping through them, and does not disturb.
enum StartCode {
    /// How many bytes of the entry code ``main(in:at:)`` wants to see.
    static let length = 96

    /// Where `main` is.
    enum Main: Hashable {
        case at(UInt64)
        /// Its address is in a slot of the program's offset table, once that is relocated.
        case inSlot(UInt64)
    }

    /// The candidate for `main`: nil when the code does not look like glibc's. The caller must
    /// check that it lies in an executable segment of the program (musl passes the stack pointer).
    static func main(in code: [UInt8], at entry: UInt64) -> Main? {
        var index = 0
        while index < code.count {
            if isCall(code, at: index) { return nil }
            if let main = argumentLoad(code, at: index, entry: entry) { return main }
            index += isOtherLoad(code, at: index) ? 7 : 1
        }
        return nil
    }

    /// `lea x(%rip), %reg` · `mov x(%rip), %reg` · `mov $x, %reg`, whose operand may be any bytes:
    /// before 2.34 two more arguments were addresses.
    private static func isOtherLoad(_ code: [UInt8], at index: Int) -> Bool {
        guard code[index] & 0xF0 == 0x40, let mode = code.at(index + 2) else { return false }
        switch code.at(index + 1) {
        case 0x8D, 0x8B: return mode & 0xC7 == 0x05
        case 0xC7: return mode & 0xC0 == 0xC0
        default: return false
        }
    }

    /// `lea main(%rip), %rdi` · `mov main@GOTPCREL(%rip), %rdi` · `mov $main, %rdi` (or `%edi`).
    private static func argumentLoad(_ code: [UInt8], at index: Int, entry: UInt64) -> Main? {
        switch (code[index], code.at(index + 1), code.at(index + 2)) {
        case (0x48, 0x8D, 0x3D), (0x48, 0x8B, 0x3D):
            guard let offset = code.littleEndianInt32(at: index + 3) else { return nil }
            let address = entry &+ UInt64(index) &+ 7 &+ UInt64(bitPattern: Int64(offset))
            return code[index + 1] == 0x8D ? .at(address) : .inSlot(address)
        case (0x48, 0xC7, 0xC7):
            guard let value = code.littleEndianInt32(at: index + 3) else { return nil }
            return .at(UInt64(bitPattern: Int64(value)))
        case (0xBF, _, _):
            return code.littleEndianUInt32(at: index + 1).map { .at(UInt64($0)) }
        default:
            return nil
        }
    }

    /// `call *x(%rip)` · `call x`, and the `hlt` that never returns from it.
    private static func isCall(_ code: [UInt8], at index: Int) -> Bool {
        switch (code[index], code.at(index + 1)) {
        case (0xFF, 0x15): code.at(index + 6) == 0xF4
        case (0xE8, _): code.at(index + 5) == 0xF4
        default: false
        }
    }
}

extension [UInt8] {
    fileprivate func at(_ index: Int) -> UInt8? { index < count ? self[index] : nil }
}
