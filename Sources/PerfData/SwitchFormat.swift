/// The layout of the tracepoint `sched:sched_switch` in the kernel that made the recording (its
/// `events/sched/sched_switch/format`, which perf copies).
package struct SwitchFormat: Hashable, Sendable {
    /// Its number among the tracepoints: ``PerfEvent/config``.
    package var id: UInt64
    private var state: Field
    private var next: Field

    private struct Field: Hashable, Sendable {
        var offset: Int
        var size: Int

        /// The field's value as a little-endian number.
        func value(in raw: [UInt8]) -> UInt64? {
            guard offset >= 0, 1...8 ~= size, offset <= raw.count - size else { return nil }
            return raw[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// nil: the data do not describe it.
    package init?(tracingData: [UInt8]) {
        guard let start = Self.position(of: "name: sched_switch\n", in: tracingData[...]),
            let end = Self.position(of: "print fmt:", in: tracingData[start...])
        else { return nil }
        let lines = tracingData[start..<end].split(separator: UInt8(ascii: "\n"))
            .map { String(decoding: $0, as: UTF8.self) }
        guard let line = lines.first(where: { $0.hasPrefix("ID: ") }),
            let id = UInt64(line.dropFirst(4)), let state = Self.field("prev_state", lines),
            let next = Self.field("next_pid", lines)
        else { return nil }
        self.id = id
        self.state = state
        self.next = next
    }

    /// From a sample's raw data: true if the leaving thread wanted to continue, and the id of the
    /// thread that came.
    package func read(_ raw: [UInt8]) -> (isPushed: Bool, next: Int32)? {
        guard let state = state.value(in: raw), let next = next.value(in: raw) else { return nil }
        // 0 is TASK_RUNNING; the kernel marks preemption with the bit above those of the states.
        let isPushed = state == 0 || state & 0x100 != 0
        return (isPushed, Int32(truncatingIfNeeded: next))
    }

    /// `	field:pid_t next_pid;	offset:56;	size:4;	signed:1;`
    private static func field(_ name: String, _ lines: [String]) -> Field? {
        for line in lines {
            let parts = line.split(separator: ";").map {
                $0.drop { $0 == "\t" || $0 == " " }
            }
            guard parts.count >= 3, parts[0].split(separator: " ").last.map(String.init) == name,
                parts[1].hasPrefix("offset:"), parts[2].hasPrefix("size:"),
                let offset = Int(parts[1].dropFirst(7)), let size = Int(parts[2].dropFirst(5))
            else { continue }
            return Field(offset: offset, size: size)
        }
        return nil
    }

    private static func position(of text: String, in bytes: ArraySlice<UInt8>) -> Int? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, bytes.count >= wanted.count else { return nil }
        var start = bytes.startIndex
        while let candidate = bytes[start...].firstIndex(of: first) {
            guard candidate <= bytes.endIndex - wanted.count else { return nil }
            if bytes[candidate..<candidate + wanted.count].elementsEqual(wanted) {
                return candidate
            }
            start = candidate + 1
        }
        return nil
    }
}
