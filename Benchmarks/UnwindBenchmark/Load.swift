import PerfData
import ProfileModel

/// A process's samples with copied stacks, in memory, and what was mapped when they were taken.
struct Load: Sendable {
    /// Samples between two changes of the mappings.
    struct Stretch: Sendable {
        var mappings: [CodeMapping]
        var samples: [Taken] = []
    }

    struct Taken: Sendable {
        var tid: Int32
        var time: Int64
        var snapshot: Snapshot
    }

    private(set) var stretches: [Stretch]
    let count: Int

    var lastMappings: [CodeMapping] { stretches.last?.mappings ?? [] }
    /// Whether what was mapped once stayed: then the last mappings hold for all samples.
    let onlyAdds: Bool

    /// Reads the samples of the process that has most of them.
    ///
    /// - Parameter limit: how many of them to keep.
    init(path: String, limit: Int) throws(PerfDataError) {
        let file = try PerfFile(path: path)
        var processes: [Int32: Process] = [:]
        while let record = try file.next() {
            switch record.body {
            case .mapping(let mapping) where !mapping.isKernel && mapping.isExecutable:
                processes[mapping.pid, default: Process()].map(mapping)
            case .name(let pid, _, _, let isExec) where isExec:
                processes[pid, default: Process()].removeMappings()
            case .fork(let pid, let parent, _, _) where pid != parent:
                processes[pid] = Process(childOf: processes[parent])
            case .sample(let sample):
                processes[sample.pid, default: Process()]
                    .add(sample, at: record.time?.nanoseconds ?? 0)
            default:
                break
            }
        }
        let largest = processes.values.max { $0.count < $1.count }
        stretches = largest?.stretches ?? []
        var left = max(0, limit)
        for index in stretches.indices {
            stretches[index].samples = Array(stretches[index].samples.prefix(left))
            left -= stretches[index].samples.count
        }
        count = stretches.reduce(0) { $0 + $1.samples.count }
        let last = Set(stretches.last?.mappings ?? [])
        onlyAdds = stretches.allSatisfy { last.isSuperset(of: $0.mappings) }
    }
}

/// A process as the records tell of it.
private struct Process {
    private var mappings: [CodeMapping] = []
    private(set) var stretches: [Load.Stretch] = []
    private(set) var count = 0
    private var isChanged = true

    init() {}

    init(childOf parent: Process?) { mappings = parent?.mappings ?? [] }

    mutating func removeMappings() {
        mappings = []
        isChanged = true
    }

    /// A new mapping takes the place of what lies where it does.
    mutating func map(_ new: PerfMapping) {
        guard new.end > new.start else { return }
        var kept: [CodeMapping] = []
        for old in mappings {
            if old.start < new.start {
                var before = old
                before.end = min(old.end, new.start)
                kept.append(before)
            }
            if old.end > new.end {
                var behind = old
                behind.start = max(old.start, new.end)
                behind.fileOffset &+= behind.start - old.start
                kept.append(behind)
            }
        }
        kept.append(
            CodeMapping(
                start: new.start, end: new.end, fileOffset: new.fileOffset, path: new.path,
                inode: new.inode))
        mappings = kept.sorted { $0.start < $1.start }
        isChanged = true
    }

    mutating func add(_ sample: PerfSample, at time: Int64) {
        guard let snapshot = sample.snapshot, !snapshot.stack.bytes.isEmpty else { return }
        if isChanged { stretches.append(Load.Stretch(mappings: mappings)) }
        isChanged = false
        stretches[stretches.count - 1].samples.append(
            Load.Taken(tid: sample.tid, time: time, snapshot: snapshot))
        count += 1
    }
}
