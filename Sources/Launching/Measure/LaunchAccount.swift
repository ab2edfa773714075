import Agent
import CSystem
import ProcessIO
package import ProfileModel

/// Computes one launch's figures from the notes, and from the kernel's report on the process, read
/// while the process exists, perhaps as a zombie.
///
/// The program's memory may hold anything: times count only if they are possible.
package struct LaunchAccount {
    package let pid: Int32
    package let before: HeldProcess.Usage
    package let images: [MeasuredImage]
    package let ending: LaunchFollower.Ending

    /// The kernel's totals are read some time after the launch's end. If the program has run since,
    /// they count only up to this lag.
    private static let mostLag = TimeSpan.milliseconds(5)

    /// - Parameter first: the program as the user asked for it.
    package func observed(_ first: Image) -> ObservedLaunch {
        var notes = LaunchNotes(start: before.time, cpu: before.cpu)
        for (index, image) in images.enumerated() {
            let isLast = index == images.count - 1
            notes.add(image, until: isLast ? ending.time : images[index + 1].reached)
        }
        let end = max(ending.ready?.time ?? ending.time, before.time)
        var launch = ObservedLaunch(
            borders: notes.borders + [LaunchBorder(kind: .ended, time: end)])
        launch.cpu = notes.cpu
        launch.cpu[end] = totalCPU.flatMap { notes.net($0) }
        launch.images = images.enumerated().map { index, image in
            image.description ?? (index == 0 ? first : Image(path: "", arguments: [], time: end))
        }
        launch.isDynamic = images.last?.isDynamic ?? false
        launch.ready = ending.ready
        launch.outcome = outcome
        launch.isHung = ending.isHung
        launch.isInterrupted = ending.signal != nil
        launch.counters = counters(without: notes.faults)
        launch.mainBlocked = mainBlocked(notes)
        return launch
    }

    private var outcome: Recording.Outcome {
        guard let end = ending.end else { return .running }
        return end.is_signal == 1 ? .signalled(end.code) : .exited(end.code)
    }

    /// How long the launch had been over when we noticed.
    private var lag: TimeSpan { ending.ready.map { max(.zero, ending.time - $0.time) } ?? .zero }
    /// True if the program has not run since.
    private var wasIdle: Bool { ending.ready?.by.hasPrefix("idle:") == true }

    /// CPU time of the process's own threads when the launch was over. Children are left out,
    /// because at a border between two phases we do not know how much of theirs came before.
    private var totalCPU: TimeSpan? {
        let isExact =
            ending.end == nil ? wasIdle || lag <= Self.mostLag : ending.ready == nil
        return isExact ? ProcessFiles(pid: pid).cpuTime : nil
    }

    /// nil: some of the processes are not known.
    ///
    /// - Parameter path: of the program.
    package func processes(_ costs: TreeCosts, called path: String) -> [MeasuredProcesses]? {
        let name = path.split(separator: "/").last.map {
            String(decoding: $0.utf8.prefix(15), as: UTF8.self)
        }
        return costs.processes(
            of: pid, called: name ?? "", until: ending.ready?.time ?? ending.time,
            isLate: !wasIdle && lag > Self.mostLag)
    }

    private func counters(without faults: Int64) -> ProcessCounters {
        var now: ProcessCounters
        if let end = ending.end {
            now = ProcessCounters(
                minorFaults: end.minor_faults, majorFaults: end.major_faults,
                readBytes: end.blocks_read &* 512)
        } else {
            now = ProcessFiles(pid: pid).counters()
        }
        func less(_ field: KeyPath<ProcessCounters, Int64?>, _ ours: Int64 = 0) -> Int64? {
            now[keyPath: field].map { max(0, $0 - (before.counters[keyPath: field] ?? 0) - ours) }
        }
        now = ProcessCounters(
            minorFaults: less(\.minorFaults, faults), majorFaults: less(\.majorFaults),
            readBytes: less(\.readBytes))
        return now
    }

    /// The time in which the main thread was neither on a core nor waiting for one.
    private func mainBlocked(_ notes: LaunchNotes) -> TimeSpan? {
        guard let first = before.scheduler,
            let last = KernelThread(process: pid, tid: pid).counters(),
            last.run >= first.run, last.delay >= first.delay, wasIdle || lag <= Self.mostLag
        else { return nil }
        let wall = ending.time - before.time - notes.held
        let run = TimeSpan(nanoseconds: last.run - first.run) - notes.ownCPU
        let delay = TimeSpan(nanoseconds: last.delay - first.delay)
        return max(.zero, wall - run - delay - (wasIdle ? lag : .zero))
    }
}

/// The borders of a launch, in order, and the cost of our code in the program.
package struct LaunchNotes {
    package private(set) var borders: [LaunchBorder] = []
    /// Like ``ObservedLaunch/cpu``.
    package private(set) var cpu: [MonotonicTime: TimeSpan] = [:]
    package private(set) var held = TimeSpan.zero
    package private(set) var ownCPU = TimeSpan.zero
    package private(set) var faults: Int64 = 0
    /// The time of the last note: no later note may lie before it.
    private var latest: MonotonicTime
    private let cpuAtStart: TimeSpan?

    /// - Parameter cpu: the process's CPU time before.
    package init(start: MonotonicTime, cpu: TimeSpan?) {
        latest = start
        cpuAtStart = cpu
        borders.append(LaunchBorder(kind: .spawned, time: start))
        self.cpu[start] = cpu.map { _ in .zero }
    }

    /// The program's own share of the process's total, since the launch's start.
    package func net(_ total: TimeSpan) -> TimeSpan? {
        cpuAtStart.map { max(.zero, total - $0 - ownCPU) }
    }

    package mutating func add(_ image: MeasuredImage, until end: MonotonicTime) {
        guard image.reached >= latest, image.reached <= end else { return }
        let entry = image.entry.flatMap { fits($0, after: image.reached, until: end) }
        let began = entry?.end.time ?? image.reached
        cpu[began] = image.cpu.flatMap { net($0) }
        hold(from: image.reached, to: began)
        borders.append(LaunchBorder(kind: .firstInstruction, time: began))
        if let entry {
            take(entry, cpu: image.cpu ?? entry.start.cpu, time: image.reached)
            // Our code's first accesses to the area's code and state came before those that it
            // counts.
            faults += Self.faultsBefore
        }
        if image.beginsWithMain { borders.append(LaunchBorder(kind: .main, time: began)) }
        guard entry != nil, let code = image.code, !code.area.lacksPatches,
            code.notesMain || code.notesRelocation
        else { return }
        borders.append(LaunchBorder(kind: .watched, time: began))
        for border in NotedBorder.allCases {
            guard
                let stretch = image.border(border).flatMap({ fits($0, after: latest, until: end) })
            else { continue }
            borders.append(LaunchBorder(kind: border.kind, time: stretch.start.time))
            if border == .relocated, code.notesMain {
                borders.append(LaunchBorder(kind: .watched, time: stretch.start.time))
            }
            cpu[stretch.start.time] = net(stretch.start.cpu)
            hold(from: stretch.start.time, to: stretch.end.time)
            take(stretch, cpu: stretch.start.cpu, time: stretch.start.time)
        }
        if let waited = image.announcement, waited.lowerBound >= latest, waited.upperBound <= end {
            hold(from: waited.lowerBound, to: waited.upperBound)
        }
    }

    private static let faultsBefore: Int64 = 2
    /// Our code has fewer pages than this.
    private static let mostFaults: Int64 = 100

    /// Only one thread runs our code. CPU time beyond the wall time belongs to other threads.
    private mutating func take(
        _ stretch: MeasuredImage.Stretch, cpu before: TimeSpan, time: MonotonicTime
    ) {
        let used = max(.zero, stretch.end.cpu - before)
        ownCPU = ownCPU + min(used, stretch.end.time - time)
        faults += min(stretch.end.minorFaults - stretch.start.minorFaults, Self.mostFaults)
    }

    private func fits(
        _ stretch: MeasuredImage.Stretch, after start: MonotonicTime, until end: MonotonicTime
    ) -> MeasuredImage.Stretch? {
        stretch.start.time >= start && stretch.end.time <= end ? stretch : nil
    }

    private mutating func hold(from start: MonotonicTime, to end: MonotonicTime) {
        latest = end
        guard start < end else { return }
        held = held + (end - start)
        borders.append(LaunchBorder(kind: .held, time: start))
        borders.append(LaunchBorder(kind: .released, time: end))
    }
}
