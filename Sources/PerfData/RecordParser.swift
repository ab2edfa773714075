import ProfileModel

/// Parses single records. The events determine their layout.
struct RecordParser {
    private(set) var events: [PerfEvent] = []
    private var indices: [UInt64: Int] = [:]

    enum Result {
        case record(PerfRecord)
        /// A record that we do not use.
        case skipped
        case damaged(String)
    }

    mutating func add(_ event: PerfEvent) {
        for id in event.ids { indices[id] = events.count }
        events.append(event)
    }

    /// - Parameter id: one of the event's ids.
    mutating func name(_ name: String, id: UInt64) {
        if let index = indices[id] { events[index].name = name }
    }

    mutating func name(_ name: String, at index: Int) {
        if events.indices.contains(index) { events[index].name = name }
    }

    func parse(_ record: RawRecord) -> Result {
        switch record.type {
        case RecordType.sample: sample(record)
        case RecordType.mmap, RecordType.mmap2: mapping(record)
        case RecordType.comm: name(record)
        case RecordType.fork, RecordType.exit: life(record)
        case RecordType.lost, RecordType.lostSamples: lost(record)
        case RecordType.throttle: timed(record, .throttled)
        case RecordType.contextSwitch, RecordType.contextSwitchOfCore: contextSwitch(record)
        case RecordType.buildID:
            Features.buildID(record).map {
                .record(PerfRecord(time: nil, body: .buildID($0)))
            } ?? .damaged("a build id that is cut short")
        default: .skipped
        }
    }

    // MARK: The event and the time

    /// The end of all records except samples, if the events ask for it.
    private struct Trailer {
        var pid: Int32?
        var tid: Int32?
        var time: MonotonicTime?
        var cpu: UInt32?
    }

    private static func time(_ value: UInt64?) -> MonotonicTime? {
        // Records that perf made itself have no time, or a time with all bits set.
        guard let value, value != 0, let time = Int64(exactly: value) else { return nil }
        return MonotonicTime(nanoseconds: time)
    }

    private func trailer(_ record: RawRecord) -> (Trailer, size: Int) {
        guard var event = events.first else { return (Trailer(), 0) }
        if event.sampleType.contains(.identifier), var last = record.body.last(8),
            let index = last.u64().flatMap({ indices[$0] })
        {
            event = events[index]
        }
        guard event.hasSampleIDs else { return (Trailer(), 0) }
        let fields: [SampleType] = [.thread, .time, .id, .streamID, .cpu, .identifier]
        let size = 8 * fields.count { event.sampleType.contains($0) }
        guard var reader = record.body.last(size) else { return (Trailer(), 0) }
        var result = Trailer()
        if event.sampleType.contains(.thread) {
            (result.pid, result.tid) = (reader.i32(), reader.i32())
        }
        if event.sampleType.contains(.time) { result.time = Self.time(reader.u64()) }
        if event.sampleType.contains(.id) { reader.skip(8) }
        if event.sampleType.contains(.streamID) { reader.skip(8) }
        if event.sampleType.contains(.cpu) { result.cpu = reader.u32() }
        return (result, size)
    }

    private func timed(_ record: RawRecord, _ body: PerfRecord.Body) -> Result {
        .record(PerfRecord(time: trailer(record).0.time, body: body))
    }

    // MARK: Samples

    private func eventIndex(ofSample record: RawRecord) -> Int? {
        guard let first = events.first else { return nil }
        guard events.count > 1 else { return 0 }
        var reader = record.body
        if first.sampleType.contains(.identifier) {
            return reader.u64().flatMap { indices[$0] }
        }
        // Without identifiers, all events have the same layout up to the id.
        guard first.sampleType.contains(.id) else { return 0 }
        for field in [SampleType.instruction, .thread, .time, .address] {
            if first.sampleType.contains(field) { reader.skip(8) }
        }
        return reader.u64().flatMap { indices[$0] }
    }

    private func sample(_ record: RawRecord) -> Result {
        guard let index = eventIndex(ofSample: record) else {
            return .damaged("a sample of an event that the file does not describe")
        }
        guard let result = SampleParser(event: events[index]).parse(record, event: index) else {
            return .damaged("a sample that is cut short")
        }
        return .record(PerfRecord(time: Self.time(result.time), body: .sample(result.sample)))
    }

    // MARK: Other records

    private func mapping(_ record: RawRecord) -> Result {
        let (trailer, size) = trailer(record)
        var reader = record.body.dropping(last: size)
        guard let pid = reader.i32(), reader.i32() != nil, let start = reader.u64(),
            let length = reader.u64(), let fileOffset = reader.u64()
        else { return .damaged("a mapping that is cut short") }
        let (end, overflow) = start.addingReportingOverflow(length)
        var mapping = PerfMapping(
            pid: pid, start: start, end: overflow ? .max : end, fileOffset: fileOffset, path: "",
            inode: 0, buildID: [], isExecutable: !record.has(RecordFlag.mappingOfData),
            isKernel: record.isKernel)
        if record.type == RecordType.mmap2 {
            guard let identity = reader.take(24), let protection = reader.u32(),
                reader.u32() != nil
            else { return .damaged("a mapping that is cut short") }
            if record.has(RecordFlag.mappingHasBuildID) {
                mapping.buildID = Array(identity[4...].prefix(min(Int(identity[0]), 20)))
            } else {
                var words = ByteReader(identity)
                words.skip(8)
                mapping.inode = words.u64() ?? 0
            }
            // PROT_EXEC
            mapping.isExecutable = protection & 4 != 0
        }
        mapping.path = reader.text()
        return .record(PerfRecord(time: trailer.time, body: .mapping(mapping)))
    }

    private func name(_ record: RawRecord) -> Result {
        let (trailer, size) = trailer(record)
        var reader = record.body.dropping(last: size)
        guard let pid = reader.i32(), let tid = reader.i32() else {
            return .damaged("a thread's name that is cut short")
        }
        let isExec = record.has(RecordFlag.exec)
        return .record(
            PerfRecord(
                time: trailer.time,
                body: .name(pid: pid, tid: tid, name: reader.text(), isExec: isExec)))
    }

    private func life(_ record: RawRecord) -> Result {
        var reader = record.body
        guard let pid = reader.i32(), let parent = reader.i32(), let tid = reader.i32(),
            let parentThread = reader.i32(), let own = reader.u64()
        else { return .damaged("a thread's beginning or end that is cut short") }
        let time = trailer(record).0.time ?? Self.time(own)
        guard record.type == RecordType.fork else {
            return .record(PerfRecord(time: time, body: .exit(pid: pid, tid: tid)))
        }
        return .record(
            PerfRecord(
                time: time,
                body: .fork(pid: pid, parent: parent, tid: tid, parentThread: parentThread)))
    }

    private func lost(_ record: RawRecord) -> Result {
        var reader = record.body
        // The event's id.
        if record.type == RecordType.lost { reader.skip(8) }
        guard let count = reader.u64() else { return .damaged("a count that is cut short") }
        return timed(record, .lost(count: count, isSum: record.type == RecordType.lostSamples))
    }

    private func contextSwitch(_ record: RawRecord) -> Result {
        let trailer = trailer(record).0
        guard let pid = trailer.pid, let tid = trailer.tid else { return .skipped }
        let isPushed = record.has(RecordFlag.switchOutPushed)
        let body: PerfRecord.Body =
            record.has(RecordFlag.switchOut)
            ? .left(pid: pid, tid: tid, cpu: trailer.cpu, isPushed: isPushed)
            : .arrived(pid: pid, tid: tid, cpu: trailer.cpu)
        return .record(PerfRecord(time: trailer.time, body: body))
    }
}
