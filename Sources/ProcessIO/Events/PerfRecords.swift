package import ProfileModel

/// The records of a perf ring, one after another (`perf_event.h` of the kernel defines the format).
/// A record that is shorter than its header says, or than its kind requires, ends the reading.
///
/// Unsafe code: a record points into the bytes that were read. Use it only in the call that hands
/// it on.
package enum PerfRecords {
    /// One record without its header. Fields outside the record are nil.
    package struct Record {
        package var kind: Kind
        package var flags: UInt16
        fileprivate var bytes: UnsafeRawBufferPointer

        package func number<Value: FixedWidthInteger & BitwiseCopyable>(
            at offset: Int, as type: Value.Type
        ) -> Value? {
            guard offset >= 0, offset <= bytes.count - MemoryLayout<Value>.size else { return nil }
            return bytes.loadUnaligned(fromByteOffset: offset, as: type)
        }

        /// At most `count` bytes; fewer if the record ends before.
        package func bytes(at offset: Int, count: Int) -> [UInt8] {
            guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
            return Array(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(offset).prefix(count)))
        }

        /// The offset of its pid, tid, time and core.
        private var identity: Int { kind == .sample ? 0 : bytes.count - 24 }

        package var process: Int32? { number(at: identity, as: Int32.self) }
        package var tid: Int32? { number(at: identity + 4, as: Int32.self) }
        package var core: Int32? { number(at: identity + 16, as: Int32.self) }
        package var time: MonotonicTime? {
            number(at: identity + 8, as: Int64.self).map(MonotonicTime.init(nanoseconds:))
        }

        /// For a fork: the process of the new thread, and the thread's id.
        package var child: (pid: Int32, tid: Int32)? {
            guard kind == .fork, let pid = number(at: 0, as: Int32.self),
                let tid = number(at: 8, as: Int32.self)
            else { return nil }
            return (pid, tid)
        }

        /// For a count: the CPU time.
        package var count: TimeSpan? {
            guard kind == .count, let time = number(at: 8, as: Int64.self), time >= 0 else {
                return nil
            }
            return TimeSpan(nanoseconds: time)
        }

        /// For a new name: true if the name is that of an executed program, not one that the thread
        /// gave itself (`PERF_RECORD_MISC_COMM_EXEC`).
        package var isExec: Bool { kind == .name && flags & 1 << 13 != 0 }

        /// For a new name: the name.
        package var name: String {
            guard kind == .name, identity > Self.nameOffset else { return "" }
            let bytes = bytes(at: Self.nameOffset, count: identity - Self.nameOffset)
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }

        private static let nameOffset = 8

        /// For a mapping: the code, as the kernel names it.
        package var mapping: CodeMapping? {
            guard kind == .mapping, let start = number(at: 8, as: UInt64.self),
                let size = number(at: 16, as: UInt64.self), size > 0,
                let offset = number(at: 24, as: UInt64.self),
                let inode = number(at: 40, as: UInt64.self)
            else { return nil }
            let (end, isTooLarge) = start.addingReportingOverflow(size)
            guard !isTooLarge, identity > Self.pathOffset else { return nil }
            let path = String(
                decoding: bytes(at: Self.pathOffset, count: identity - Self.pathOffset)
                    .prefix { $0 != 0 }, as: UTF8.self)
            return CodeMapping(
                start: start, end: end, fileOffset: offset, path: path == "//anon" ? "" : path,
                inode: inode)
        }

        private static let pathOffset = 64

        /// True if a sample was taken in the kernel's code (`PERF_RECORD_MISC_CPUMODE_MASK`).
        package var isInKernel: Bool { kind == .sample && flags & 7 != 2 }

        /// A field of a sample's raw data.
        package func raw(_ field: TracepointFormat.Field) -> Int64? {
            guard kind == .sample, let size = number(at: 24, as: UInt32.self),
                field.offset + field.size <= Int(size)
            else { return nil }
            let offset = 28 + field.offset
            return switch field.size {
            case 1: number(at: offset, as: UInt8.self).map { Int64($0) }
            case 2: number(at: offset, as: UInt16.self).map { Int64($0) }
            case 4: number(at: offset, as: Int32.self).map { Int64($0) }
            default: number(at: offset, as: Int64.self)
            }
        }
    }

    /// `PERF_RECORD_…`; other kinds are skipped.
    package enum Kind: UInt32 {
        case lost = 2
        case name = 3
        case exit = 4
        case fork = 7
        /// An ending thread's count of an event.
        case count = 8
        case sample = 9
        case mapping = 10
        case `switch` = 14
        /// The same, from an event of all threads.
        case machineSwitch = 15
    }

    private static let headerSize = 8

    /// The length of the first record, with its header; 0: there is none.
    static func length(of bytes: Swift.Slice<UnsafeRawBufferPointer>) -> Int {
        let all = UnsafeRawBufferPointer(rebasing: bytes)
        guard all.count >= headerSize else { return 0 }
        let length = Int(all.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
        return length >= headerSize ? length : 0
    }

    /// - Returns: how many bytes it has read.
    package static func forEach(
        in bytes: UnsafeRawBufferPointer, _ body: (Record) -> Void
    ) -> Int {
        var offset = 0
        while true {
            let length = length(of: bytes[offset...])
            guard length > 0, length <= bytes.count - offset else { return offset }
            let record = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
            if let kind = Kind(rawValue: record.loadUnaligned(as: UInt32.self)) {
                body(
                    Record(
                        kind: kind, flags: record.loadUnaligned(fromByteOffset: 4, as: UInt16.self),
                        bytes: UnsafeRawBufferPointer(rebasing: record.dropFirst(headerSize))))
            }
            offset += length
        }
    }
}

extension PerfRecords.Record {
    /// `PERF_RECORD_MISC_SWITCH_OUT` and `…_PREEMPT`.
    private static let out: UInt16 = 1 << 13
    private static let preempted: UInt16 = 1 << 14

    /// The change of its thread that the record reports; nil for other records.
    package var switching: SchedulerRecord.Kind? {
        switch kind {
        case .switch, .machineSwitch:
            guard let core else { return nil }
            guard flags & Self.out != 0 else { return .arrived(core: core) }
            return .left(flags & Self.preempted != 0 ? .pushed : .waiting, core: core)
        case .exit: return .ended
        case .lost, .name, .fork, .count, .sample, .mapping: return nil
        }
    }
}
