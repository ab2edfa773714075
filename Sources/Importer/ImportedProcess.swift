import PerfData
import ProfileModel
import Recording

/// Turns one process's records into a recording.
struct ImportedProcess {
    private let choice: ProcessChoice
    private let event: TimeEvent
    private let writer: ImportWriter
    private let buildIDs: [String: [UInt8]]
    private let kernelBuildIDs: [String: [UInt8]]

    private var maps: [Int32: AddressMap] = [:]
    private var kernel = AddressMap()
    /// The kernel's mappings are added with the first stack that needs them.
    private var needsKernel = false
    private var told: ToldMaps?
    private var threads: [Int32: Track] = [:]
    private var names: [Int32: String] = [:]
    private var execs: [(time: MonotonicTime, name: String, program: String?)] = []
    private var forked: MonotonicTime?
    private var ended: MonotonicTime?
    private var last = MonotonicTime(nanoseconds: 0)
    private var notes: [RecorderNote.Kind: Int64] = [:]
    private var estimates: Int64 = 0
    private var groupCounts: GroupCounts?
    /// How many records the kernel had no room for: the sum of its reports, and perf's own figure
    /// at the end.
    private var (lost, lostInSum): (Int64, Int64) = (0, 0)
    /// How many samples measured the process's time.
    private(set) var samples: Int64 = 0
    private var schedule = ScheduleBuilder()

    /// The versions of the maps that the unwinders have.
    private struct ToldMaps: Equatable {
        var program: Int
        var kernel: Int?
    }

    private struct Track {
        var index: ThreadIndex
        var times: ThreadTimes<StackJob>
        /// When it ended, as far as reported: samples of its last moments, in the kernel, may come
        /// later.
        var end: MonotonicTime?
    }

    /// As for all recordings.
    private static let latest: Int64 = 1 << 60
    /// The time that becomes 0 in the recording: if the clock counts from 1970, an hour before the
    /// first record.
    private var origin: Int64?

    init(_ choice: ProcessChoice, _ event: TimeEvent, _ file: PerfFile, _ writer: ImportWriter) {
        self.choice = choice
        self.event = event
        self.writer = writer
        groupCounts = event.groupCounts
        buildIDs = Dictionary(
            file.buildIDs.lazy.filter { !$0.isKernel }.map { ($0.path, $0.buildID) },
            uniquingKeysWith: { first, _ in first })
        kernelBuildIDs = Dictionary(
            file.buildIDs.lazy.filter(\.isKernel).compactMap { found in
                PerfMapping.kernelPath(found.path).map { ($0, found.buildID) }
            }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Records

    mutating func take(_ record: PerfRecord) throws(RecordingError) {
        let told: MonotonicTime? = if let time = record.time { recorded(time) } else { nil }
        let time = told ?? last
        guard 0...Self.latest ~= time.nanoseconds else { return }
        last = max(last, time)
        switch record.body {
        case .mapping(let mapping) where mapping.isKernel:
            guard let code = mapping.kernelCode else { return }
            kernel.add(code, buildID: kernelBuildIDs[code.path] ?? code.buildID)
        case .mapping(let mapping):
            guard choice.lineage.contains(mapping.pid) else { return }
            let buildID =
                mapping.buildID.isEmpty ? buildIDs[mapping.path] ?? [] : mapping.buildID
            maps[mapping.pid, default: AddressMap()].add(mapping, buildID: buildID)
            if mapping.pid == choice.pid { nameProgram() }
        case .name(let pid, let tid, let name, let isExec):
            if isExec, choice.lineage.contains(pid) { maps[pid]?.clear() }
            guard pid == choice.pid else {
                if choice.lineage.contains(pid) { names[tid] = RecordedText.bounded(name) }
                return
            }
            try rename(tid, name, isExec: isExec, at: time)
        case .fork(let pid, let parent, let tid, let parentThread):
            if choice.lineage.contains(pid) {
                try close(tid)
                names[tid] = names[parentThread]
            }
            if pid == choice.pid, pid == parent { try begin(tid, at: time) }
            // perf itself reports processes that it found, without a time.
            if pid == choice.pid, pid != parent { forked = told ?? forked }
            if pid != parent, choice.lineage.contains(pid) { maps[pid] = maps[parent] }
        case .exit(let pid, let tid):
            guard pid == choice.pid else { return }
            tell(SchedulerRecord(time, tid, .ended))
            threads[tid]?.end = time
            // The process lives on while other threads do.
            if tid == pid || ended != nil { ended = time }
        case .sample(let sample): try take(sample, at: time)
        case .arrived(let pid, let tid, let cpu):
            guard pid == choice.pid else { return }
            try arrive(tid, cpu, at: time)
        case .left(let pid, let tid, let cpu, let isPushed):
            guard pid == choice.pid else { return }
            try leave(tid, isPushed: isPushed, stack: nil, at: time)
            tell(
                SchedulerRecord(
                    time, tid, .left(isPushed ? .pushed : .waiting, core: Self.core(cpu))))
        case .lost(let count, let isSum):
            let count = Int64(clamping: count)
            if isSum {
                lostInSum = lostInSum.saturating(count)
            } else {
                lost = lost.saturating(count)
            }
        case .throttled: note(.throttled, 1)
        case .buildID: break
        }
    }

    private mutating func recorded(_ time: MonotonicTime) -> MonotonicTime {
        guard event.countsFromEpoch else { return time }
        let origin = origin ?? time.nanoseconds - 3_600_000_000_000
        self.origin = origin
        return MonotonicTime(
            nanoseconds: time.nanoseconds.subtractingReportingOverflow(origin).partialValue)
    }

    private mutating func note(_ kind: RecorderNote.Kind, _ count: Int64) {
        guard count > 0 else { return }
        notes[kind] = notes[kind, default: 0].saturating(count)
    }

    private static func core(_ cpu: UInt32?) -> Int32 { cpu.flatMap { Int32(exactly: $0) } ?? 0 }

    // MARK: Samples

    private mutating func take(_ sample: PerfSample, at time: MonotonicTime) throws(RecordingError)
    {
        if let told = event.switchTold(by: sample) {
            // The next thread may be ours even if the leaving one is not.
            defer { last = max(last, time) }
            if sample.pid == choice.pid {
                let stack = try job(of: sample, at: time)
                try leave(sample.tid, isPushed: told.isPushed, stack: stack, at: time)
            }
            if threads[told.next] != nil { try arrive(told.next, nil, at: time) }
            return
        }
        // A counter of a core counts for all processes.
        let counted = groupCounts?.cpu(since: sample)
        guard sample.pid == choice.pid else { return note(.otherProcesses, 1) }
        guard counted != nil || event.measures(sample) else { return note(.otherEvents, 1) }
        samples += 1
        let cpu = event.cpu(of: sample, counted: counted)
        let stack = try job(of: sample, at: time)
        try begin(sample.tid, at: time - cpu)
        if ended != nil, threads[sample.tid] != nil { ended = time }
        if threads[sample.tid]?.end != nil { threads[sample.tid]?.end = time }
        try emit(sample.tid) { $0.sample(at: time, cpu: cpu, stack: stack) }
    }

    private mutating func job(
        of sample: PerfSample, at time: MonotonicTime
    ) throws(RecordingError) -> StackJob {
        let kernelChain = sample.kernelCallchain
        if !kernelChain.isEmpty { needsKernel = true }
        try tellMaps(at: time)
        if let snapshot = sample.snapshot {
            return try writer.job(.snapshot(snapshot), kernelChain: kernelChain)
        }
        let chain = sample.userCallchain
        if !chain.isEmpty { return try writer.job(.chain(chain), kernelChain: kernelChain) }
        return try writer.job(
            sample.isKernel ? .missing : .instruction(sample.instruction),
            kernelChain: kernelChain)
    }

    private mutating func tellMaps(at time: MonotonicTime) throws(RecordingError) {
        let map = maps[choice.pid] ?? AddressMap()
        let maps = ToldMaps(program: map.version, kernel: needsKernel ? kernel.version : nil)
        guard maps != told else { return }
        told = maps
        try writer.update(map.code + (needsKernel ? kernel.code : []), at: time)
    }

    // MARK: Threads

    private mutating func emit(
        _ tid: Int32, _ change: (inout ThreadTimes<StackJob>) -> [ThreadTimes<StackJob>.Piece]
    ) throws(RecordingError) {
        guard var track = threads[tid] else { return }
        // Removed from the table while it changes, so that it is not copied.
        threads[tid] = nil
        let pieces = change(&track.times)
        threads[tid] = track
        try writer.add(pieces, of: track.index)
        guard let first = pieces.first else { return }
        writer.update(track.index) { $0.start = min($0.start, first.start) }
    }

    /// Adds the thread, if it is unknown.
    private mutating func begin(_ tid: Int32, at time: MonotonicTime) throws(RecordingError) {
        guard threads[tid] == nil, tid >= 0 else { return }
        let start = MonotonicTime(nanoseconds: max(0, time.nanoseconds))
        let name = names[tid] ?? names[choice.pid] ?? ""
        let index = writer.add(
            RecordedThread(tid: tid, name: name, start: start, isMain: tid == choice.pid))
        threads[tid] = Track(
            index: index,
            times: ThreadTimes(
                start: start, knowsSwitches: event.knowsSwitches, clocks: event.clockCount))
        schedule.list(index, tid: tid)
        if event.recordsSwitches { tell(SchedulerRecord(start, tid, .watched)) }
    }

    /// Closes a thread that has ended and gets no more records.
    private mutating func close(_ tid: Int32) throws(RecordingError) {
        guard let end = threads[tid]?.end else { return }
        try close(tid, at: end)
    }

    private mutating func close(_ tid: Int32, at time: MonotonicTime) throws(RecordingError) {
        try emit(tid) { $0.finish(at: time) }
        guard let track = threads.removeValue(forKey: tid) else { return }
        estimates &+= track.times.estimates
        names[tid] = nil
        writer.update(track.index) { $0.end = max($0.start, time) }
    }

    private mutating func rename(
        _ tid: Int32, _ name: String, isExec: Bool, at time: MonotonicTime
    ) throws(RecordingError) {
        // The thread that executes another program gets the id of its process's first thread, which
        // has ended before.
        if isExec { try close(tid) }
        names[tid] = RecordedText.bounded(name)
        if let track = threads[tid] { writer.update(track.index) { $0.name = names[tid] ?? "" } }
        guard isExec else { return }
        execs.append((time, RecordedText.bounded(name), nil))
        try begin(tid, at: time)
        try emit(tid) { $0.begins(at: time) }
    }

    private mutating func arrive(
        _ tid: Int32, _ cpu: UInt32?, at time: MonotonicTime
    ) throws(RecordingError) {
        try begin(tid, at: time)
        guard threads[tid]?.end == nil else { return }
        try emit(tid) { $0.arrived(at: time) }
        tell(SchedulerRecord(time, tid, .arrived(core: Self.core(cpu))))
    }

    private mutating func leave(
        _ tid: Int32, isPushed: Bool, stack: StackJob?, at time: MonotonicTime
    ) throws(RecordingError) {
        try begin(tid, at: time)
        guard threads[tid]?.end == nil else { return }
        try emit(tid) { $0.left(at: time, isPushed: isPushed, stack: stack) }
    }

    /// Only records of switches report all of them.
    private mutating func tell(_ record: SchedulerRecord) {
        guard event.recordsSwitches else { return }
        schedule.add(record)
    }

    private mutating func nameProgram() {
        guard let program = maps[choice.pid]?.program, let index = execs.indices.last,
            execs[index].program == nil
        else { return }
        execs[index].program = RecordedText.bounded(program)
    }

    // MARK: The end

    mutating func finish() throws(RecordingError) -> ImportFacts {
        let end = ended ?? last
        for (tid, track) in threads.sorted(by: { $0.key < $1.key }) {
            if track.end == nil { tell(SchedulerRecord(end, tid, .ended)) }
            try close(tid, at: track.end ?? end)
        }
        schedule.finish(at: end)
        var facts = ImportFacts()
        facts.runs = schedule.result.runs
        facts.images = images
        facts.borders = borders(until: end)
        note(.estimatedWaits, estimates)
        note(.lostRecords, max(lost, lostInSum))
        if let assumed = event.assumed { note(.assumedTimes, assumed.nanoseconds) }
        facts.notes = notes.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { RecorderNote($0.key, $0.value) }
        return facts
    }

    /// True if the process existed before perf started.
    var isAttached: Bool { execs.isEmpty }

    private var images: [Image] {
        guard isAttached else {
            return execs.map { Image(path: $0.program ?? $0.name, arguments: [], time: $0.time) }
        }
        let path = maps[choice.pid]?.program ?? names[choice.pid] ?? ""
        return [Image(path: path, arguments: [], time: writer.start ?? last)]
    }

    /// perf records when programs are executed, but nothing about the dynamic linker, and not when `main`
    /// began.
    private func borders(until end: MonotonicTime) -> [LaunchBorder] {
        let beginning = writer.start ?? last
        guard let first = execs.first, let final = execs.last else {
            return [
                LaunchBorder(kind: .attached, time: beginning),
                LaunchBorder(kind: .ended, time: max(end, beginning)),
            ]
        }
        let spawned = min(forked ?? first.time, first.time, writer.start ?? first.time)
        return [LaunchBorder(kind: .spawned, time: spawned)]
            + execs.map { LaunchBorder(kind: .firstInstruction, time: $0.time) }
            + [LaunchBorder(kind: .ended, time: max(end, final.time))]
    }
}

extension Int64 {
    /// A sum that never exceeds a recording's limit.
    fileprivate func saturating(_ count: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(Swift.max(0, count))
        return overflow ? 1 << 60 : Swift.min(sum, 1 << 60)
    }
}
