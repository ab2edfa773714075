package import ProfileModel

/// The figures of one process during the launch.
package struct ProcessFigures: Hashable, Sendable {
    /// nil: the recorded process itself.
    package var child: ChildIndex?
    package var pid: Int32
    /// nil: not known.
    package var parentPid: Int32?
    /// In the list of processes; nil: it is the recorded process, or its parent was not recorded.
    package var parent: Int?
    /// The program that it ended up running; empty: not known.
    package var name: String
    package var arguments: [String]
    /// Since the launch's start.
    package var start: TimeSpan
    /// nil: the recording was cut short.
    package var end: TimeSpan?
    package var outcome: Recording.Outcome
    /// CPU time of all its threads, from the kernel's count where that is known.
    package var cpu: TimeSpan
    /// The phases of its own launch, from its fork on: names, starts since the launch's start, and
    /// CPU time.
    package var phases: [ProcessPhase]
    /// In the profile's list.
    package var threads: [Int]
    /// The longest wait of its first thread; nil: there was none, or not known.
    package var longestWait: WaitFigures?

    package var wall: TimeSpan? { end.map { $0 - start } }
}

/// A phase of one process among several.
package struct ProcessPhase: Hashable, Sendable {
    package var name: String
    /// Since the start of the launch.
    package var start: TimeSpan
    package var wall: TimeSpan
    /// Of all threads of the process.
    package var cpu: TimeSpan
}

extension ProcessFigures {
    static func all(
        of recording: Recording, _ plan: PhasePlan, phases: [Phase], threads: [ThreadFigures],
        parts: PartList, waits: [WaitFigures]
    ) -> [ProcessFigures] {
        let search = ProcessSearch(recording, plan, threads, parts, waits)
        return [search.first(phases)] + recording.children.indices.map(search.child)
    }
}

/// Collects the known facts about each process.
private struct ProcessSearch {
    let recording: Recording
    let plan: PhasePlan
    /// Positions in the list of threads, by process.
    private let threads: [ChildIndex?: [Int]]
    private let parts: PartList
    /// The positions of each process's parts.
    private let positions: [ChildIndex?: [Int]]
    /// The longest wait of each process's first thread.
    private let waits: [ChildIndex?: WaitFigures]
    /// When each process's last dynamic linker was mapped.
    private let linkers: [ChildIndex?: MonotonicTime]

    init(
        _ recording: Recording, _ plan: PhasePlan, _ threads: [ThreadFigures],
        _ parts: PartList, _ waits: [WaitFigures]
    ) {
        self.recording = recording
        self.plan = plan
        self.threads = Dictionary(grouping: threads.indices) { threads[$0].child }
        // With one process, nothing needs to be divided.
        self.parts = parts
        positions =
            recording.children.isEmpty
            ? [:] : Dictionary(grouping: parts.indices) { threads[Int(parts[$0].thread)].child }
        var longest: [ChildIndex?: WaitFigures] = [:]
        for wait in waits where recording.threads[wait.thread].isMain {
            let child = threads[wait.thread].child
            if longest[child].map({ $0.duration < wait.duration }) ?? true { longest[child] = wait }
        }
        self.waits = longest
        let mapped = recording.mappings.lazy.filter { mapping in
            recording.modules.indices.contains(mapping.module.rawValue)
                && recording.modules[mapping.module.rawValue].isDynamicLinker
        }
        linkers = Dictionary(mapped.map { ($0.child, $0.time) }, uniquingKeysWith: max)
    }

    func first(_ phases: [Phase]) -> ProcessFigures {
        let image = recording.images.last
        let own = phases.map {
            ProcessPhase(name: $0.name, start: $0.start, wall: $0.wall, cpu: $0.cpu)
        }
        return ProcessFigures(
            child: nil, pid: recording.header.pid, parentPid: nil, parent: nil,
            name: image.map { String($0.name) } ?? "", arguments: image?.arguments ?? [],
            start: .zero, end: plan.end - plan.start, outcome: recording.header.outcome,
            cpu: cpu(of: nil) ?? own.reduce(.zero) { $0 + $1.cpu },
            phases: recording.children.isEmpty
                ? own : divided(own.map { ($0.name, $0.start, $0.wall) }, of: nil),
            threads: threads[nil] ?? [], longestWait: waits[nil])
    }

    func child(_ position: Int) -> ProcessFigures {
        let index = ChildIndex(position)
        let child = recording.children[position]
        let image = child.images.last
        return ProcessFigures(
            child: index, pid: child.pid, parentPid: child.parent > 0 ? child.parent : nil,
            parent: parent(of: child), name: child.name, arguments: image?.arguments ?? [],
            start: child.start.clamped - plan.start,
            end: child.end.map { $0.clamped - plan.start }, outcome: child.outcome,
            cpu: child.cpu ?? cpu(of: index) ?? .zero, phases: phases(of: child, index),
            threads: threads[index] ?? [], longestWait: waits[index])
    }

    /// 0 is the recorded process.
    private func parent(of child: ChildProcess) -> Int? {
        if let known = child.parentIndex { return known.rawValue + 1 }
        return child.parent == recording.header.pid ? 0 : nil
    }

    /// nil: its threads are not known.
    private func cpu(of child: ChildIndex?) -> TimeSpan? {
        positions[child].map { list in list.reduce(.zero) { $0 + parts[$1].times.running } }
    }

    private func phases(of child: ChildProcess, _ index: ChildIndex) -> [ProcessPhase] {
        guard !child.borders.isEmpty else { return [] }
        let last = child.launchImages.last?.time
        let own = PhasePlan(
            child.launchBorders.map { border in
                var border = border
                border.time = border.time.clamped
                return border
            }, images: child.launchImages,
            hasDynamicLinker: linkers[index].map { linker in last.map { linker >= $0 } ?? true }
                ?? false)
        let offset = own.start - plan.start
        return divided(own.phases().map { ($0.name, $0.start + offset, $0.wall) }, of: index)
    }

    /// Phases with the CPU time that the process's threads used in each.
    private func divided(
        _ phases: [(name: String, start: TimeSpan, wall: TimeSpan)], of child: ChildIndex?
    ) -> [ProcessPhase] {
        let cutter = PartCutter(phases.flatMap { [$0.start, $0.start + $0.wall] })
        let sums = cutter.cpuUpToBorders((positions[child] ?? []).lazy.map { parts[$0] })
        func sum(_ time: TimeSpan) -> TimeSpan {
            cutter.index(of: time).map { sums[$0] } ?? .zero
        }
        return phases.map { name, start, wall in
            ProcessPhase(
                name: name, start: start, wall: wall, cpu: sum(start + wall) - sum(start))
        }
    }
}
