package import Architecture
import CSystem
import Glibc

/// A call of a stopped thread that fills memory with zeros or random numbers: read(2) of
/// `/dev/zero` and the like, getrandom(2). The kernel returns early if a signal or a stop comes.
/// Without us none would have come, and few programs check how much they received.
package struct FillingCall {
    private let tid: Int32
    private let start: UInt64
    private let got: Int
    private let wanted: Int
    private let isRandom: Bool

    /// nil: another call, or a call that was complete.
    package init?(_ number: UInt32, of tid: Int32, _ registers: Registers) {
        guard let result = registers[Registers.result], let first = registers.argument(0),
            let second = registers.argument(1), let third = registers.argument(2)
        else { return nil }
        switch SystemCall(rawValue: Int32(bitPattern: number)) {
        case .read:
            var file = fl_file()
            // Looking at the file is expensive, so check the rest first.
            guard Self.isShort(result, of: third),
                let descriptor = Int32(exactly: first & 0xFFFF_FFFF),
                fl_known_file(AT_FDCWD, "/proc/\(tid)/fd/\(descriptor)", &file) == 0,
                fl_is_endless(file.mode, file.device) == 1
            else { return nil }
            (start, wanted) = (second, Self.bounded(third))
            isRandom = fl_is_random(file.device) == 1
        case .getrandom:
            guard Self.isShort(result, of: second) else { return nil }
            (start, wanted, isRandom) = (first, Self.bounded(second), true)
        default: return nil
        }
        self.tid = tid
        got = Int(result)
    }

    /// Fetches the missing bytes for the program.
    ///
    /// - Returns: how many bytes the program has then: all, unless its memory cannot be written.
    package func complete() -> Int {
        var got = self.got
        var bytes = [UInt8](repeating: 0, count: min(wanted - got, Self.piece))
        while got < wanted {
            var size = min(wanted - got, bytes.count)
            if isRandom { size = fl_get_random(&bytes, size) }
            guard size > 0 else { break }
            let written = fl_write_memory(tid, start &+ UInt64(got), bytes, size)
            guard written > 0 else { break }
            got += written
        }
        return got
    }

    private static func isShort(_ got: UInt64, of wanted: UInt64) -> Bool {
        got > 0 && got < UInt64(bounded(wanted))
    }

    private static func bounded(_ wanted: UInt64) -> Int { Int(min(wanted, SystemCall.mostBytes)) }

    private static let piece = 1 << 20
}
