import ProfileModel

@testable import Launching
@testable import Sampler

/// Messages as the kernel writes them.
enum KernelBytes {
    static func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// A message of the process connector, with so many words of data.
    static func event(
        what: UInt32, time: Int64 = 0, _ words: UInt32...
    ) -> [UInt8] {
        var event = Self.number(what) + Self.number(UInt32(0)) + Self.number(time)
        for word in words { event += Self.number(word) }
        let message =
            Self.number(UInt32(1)) + Self.number(UInt32(1)) + Self.number(UInt64(0))
            + Self.number(UInt16(event.count)) + Self.number(UInt16(0))
        let length = UInt32(16 + message.count + event.count)
        return Self.number(length) + [UInt8](repeating: 0, count: 12) + message + event
    }

    static func attribute(_ type: UInt16, _ bytes: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        return number(UInt16(4 + bytes.count)) + number(type) + bytes + padding
    }

    /// A message of taskstats, of one thread.
    static func costs(tid: Int32, _ costs: ThreadCosts) -> [UInt8] {
        var figures = [UInt8](repeating: 0, count: 328)
        func set(_ offset: Int, _ value: Int64) {
            figures.replaceSubrange(offset..<(offset + 8), with: number(value))
        }
        set(72, costs.cpu.nanoseconds)
        set(168, costs.minorFaults)
        set(176, costs.majorFaults)
        set(248, costs.readBytes)
        let pair = attribute(4, attribute(1, number(tid)) + attribute(3, figures))
        return number(UInt32(20 + pair.count)) + [UInt8](repeating: 0, count: 16) + pair
    }
}
