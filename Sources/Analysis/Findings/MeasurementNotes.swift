package import ProfileModel

/// Facts about the measurement that the reader must know before believing or comparing its figures.
/// Thresholds are in `docs/findings.md`.
package enum MeasurementNote: Hashable, Sendable {
    /// The profiler stopped threads, for so long in all.
    case profilerOverhead(held: TimeSpan, share: Double)
    case busyMachine(BusyMachine)
}

/// The machine's other work; shares of its time, 0 ... 1, and nil where they do not matter.
package struct BusyMachine: Hashable, Sendable {
    /// Of all cores, for other processes.
    package var others: Double?
    /// Of all cores, taken by the hypervisor.
    package var stolen: Double?
    /// Of the time: other programs waited for storage.
    package var disk: Double?
    /// Of the time: some thread on the machine waited for a core.
    package var cores: Double?
    /// The time in which the main thread waited for a core, if that is at least a tenth of the
    /// launch; nil: it is less.
    package var lacked: TimeSpan?
    /// The launch's wall time.
    package let wall: TimeSpan
    /// True if CPU time is a tenth of the launch or more: otherwise CPU time says little about it.
    package let computes: Bool

    static let (leastOthers, leastStolen, leastDisk, leastCores) = (0.1, 0.02, 0.1, 0.1)
    private static let (leastLacked, leastComputed) = (0.1, 0.1)
    /// A shorter time does not matter.
    private static let leastLength = TimeSpan.milliseconds(5)

    /// nil: the machine was quiet, or its load is not known.
    init?(_ profile: Profile) {
        func noted(
            _ kind: RecorderNote.Kind, least: Double, without own: () -> Double = { 0 }
        ) -> Double? {
            let value = profile.notes.first { $0.kind == kind }?.value ?? 0
            let all = Double(min(value, 1000)) / 1000
            guard all >= least else { return nil }
            let share = all - own()
            return share >= least ? share : nil
        }
        others = noted(.busyElsewhere, least: Self.leastOthers)
        stolen = noted(.stolen, least: Self.leastStolen)
        disk = noted(.diskPressure, least: Self.leastDisk) { Self.shareOfOwnDiskWaits(profile) }
        wall = profile.launch.wall
        let share = { [wall] (time: TimeSpan) -> Double in
            wall > .zero ? Double(time.nanoseconds) / Double(wall.nanoseconds) : 0
        }
        let main = profile.phases.reduce(StateTimes.zero) { $0 + $1.mainThread }
        computes = share(profile.phases.reduce(.zero) { $0 + $1.cpu }) >= Self.leastComputed
        let lacked = main.runnable + main.preempted
        let isMuch = lacked >= Self.leastLength && share(lacked) >= Self.leastLacked
        // The program's own threads are no other work.
        if isMuch, profile.coreTakenByItself.nanoseconds * 2 < lacked.nanoseconds {
            self.lacked = lacked
        }
        // Core pressure alone proves nothing: the program's own threads may have used the cores.
        guard others != nil || stolen != nil || disk != nil || self.lacked != nil else {
            return nil
        }
        cores = noted(.corePressure, least: Self.leastCores)
    }

    /// Of the time: the program itself waited for storage.
    private static func shareOfOwnDiskWaits(_ profile: Profile) -> Double {
        let kinds: Set<WaitReason.Kind> = [.file, .disk, .ioUring]
        let own = TimeWindows(
            profile.waits.lazy.filter { kinds.contains($0.reason.kind) }
                .map { $0.start..<max($0.start, $0.end) })
        let wall = profile.launch.wall.nanoseconds
        return wall > 0 ? Double(own.length.nanoseconds) / Double(wall) : 0
    }
}

extension Profile {
    /// The time in which the main thread waited for a core while another thread of the program had
    /// one, according to the scheduler.
    fileprivate var coreTakenByItself: TimeSpan {
        let mains = Set(mainThread.threads)
        func windows(of thread: Int, _ states: [ThreadState]) -> [Range<TimeSpan>] {
            schedule.threads[thread].lazy.filter { run in states.contains { run.state == $0 } }
                .map { ($0.start - start)..<max($0.start - start, $0.end - start) }
        }
        let taken = TimeWindows(
            schedule.threads.indices.filter { !mains.contains($0) }
                .flatMap { windows(of: $0, [.running]) })
        let lacked = TimeWindows(mains.flatMap { windows(of: $0, [.runnable, .preempted]) })
        return taken.common(with: lacked).length
    }

    package func measurementNotes() -> [MeasurementNote] {
        [profilerOverhead, BusyMachine(self).map(MeasurementNote.busyMachine)].compactMap { $0 }
    }

    /// The least time for a note, and the least share of the time in which threads had something to
    /// do.
    private static let (leastHeld, leastOverhead) = (TimeSpan.milliseconds(5), 0.05)

    private var profilerOverhead: MeasurementNote? {
        let held = header.heldByProfiler
        let busy = threads.reduce(TimeSpan.zero) { $0 + $1.times.wall - $1.times.blocked }
        guard held >= Self.leastHeld, busy > .zero else { return nil }
        let share = min(1, Double(held.nanoseconds) / Double(busy.nanoseconds))
        return share >= Self.leastOverhead ? .profilerOverhead(held: held, share: share) : nil
    }
}
