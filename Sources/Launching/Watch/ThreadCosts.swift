package import ProfileModel

/// A thread's use of resources when it ended, as the kernel reports it (`taskstats.h` of the kernel
/// defines the format).
package struct ThreadCosts: Hashable, Sendable {
    package var cpu = TimeSpan.zero
    package var minorFaults: Int64 = 0
    package var majorFaults: Int64 = 0
    package var readBytes: Int64 = 0

    package static func + (left: ThreadCosts, right: ThreadCosts) -> ThreadCosts {
        ThreadCosts(
            cpu: left.cpu + right.cpu, minorFaults: left.minorFaults &+ right.minorFaults,
            majorFaults: left.majorFaults &+ right.majorFaults,
            readBytes: left.readBytes &+ right.readBytes)
    }
}

extension ThreadCosts {
    /// The costs of one thread.
    package struct News: Hashable, Sendable {
        package var tid: Int32
        package var costs: ThreadCosts
    }

    private static let headerSize = 20
    private static let attributeSize = 4
    /// Types of attributes: `TASKSTATS_TYPE_PID`, `…_STATS` and `…_AGGR_PID`, which contains the
    /// other two.
    private static let threadType: UInt16 = 1
    private static let figuresType: UInt16 = 3
    private static let pairType: UInt16 = 4

    /// The threads in a message, with their costs.
    package static func news(_ bytes: ArraySlice<UInt8>) -> [News] {
        let length = KernelFields(bytes).number(at: 0, as: UInt32.self).map { Int($0) } ?? 0
        guard length >= headerSize, length <= bytes.count else { return [] }
        return attributes(bytes.prefix(length).dropFirst(headerSize))
            .filter { $0.type == pairType }
            .compactMap { pair($0.bytes) }
    }

    private static func pair(_ bytes: ArraySlice<UInt8>) -> News? {
        var (tid, costs): (Int32?, ThreadCosts?)
        for attribute in attributes(bytes) {
            let fields = KernelFields(attribute.bytes)
            switch attribute.type {
            case threadType: tid = fields.number(at: 0, as: Int32.self)
            case figuresType: costs = figures(fields)
            default: break
            }
        }
        guard let tid, tid > 0, let costs else { return nil }
        return News(tid: tid, costs: costs)
    }

    /// nil if a figure is missing or impossible.
    private static func figures(_ fields: KernelFields) -> ThreadCosts? {
        func figure(_ offset: Int) -> Int64? {
            fields.number(at: offset, as: Int64.self).flatMap { 0...largest ~= $0 ? $0 : nil }
        }
        // Version 15 had new fields in the middle; version 16 has them at the end.
        let isOdd = fields.number(at: 0, as: UInt16.self) == 15
        guard let cpu = figure(isOdd ? 120 : 72), let minor = figure(isOdd ? 216 : 168),
            let major = figure(isOdd ? 224 : 176), let read = figure(isOdd ? 296 : 248)
        else { return nil }
        return ThreadCosts(
            cpu: TimeSpan(nanoseconds: cpu), minorFaults: minor, majorFaults: major, readBytes: read
        )
    }

    /// Small enough that thousands can be added.
    private static let largest: Int64 = 1 << 50

    /// An attribute longer than the bytes ends the list.
    private static func attributes(
        _ bytes: ArraySlice<UInt8>
    ) -> [(type: UInt16, bytes: ArraySlice<UInt8>)] {
        var found: [(type: UInt16, bytes: ArraySlice<UInt8>)] = []
        var rest = bytes
        while rest.count >= attributeSize {
            let fields = KernelFields(rest)
            guard let length = fields.number(at: 0, as: UInt16.self).map({ Int($0) }),
                let type = fields.number(at: 2, as: UInt16.self),
                length >= attributeSize, length <= rest.count
            else { break }
            found.append((type & 0x3FFF, rest.prefix(length).dropFirst(attributeSize)))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return found
    }
}
