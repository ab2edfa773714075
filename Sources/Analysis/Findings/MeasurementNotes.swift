package import ProfileModel

/// What the reader must know about the measurement before believing or comparing its figures.
/// Thresholds are in `docs/findings.md`.
package enum MeasurementNote: Hashable, Sendable {
    /// Threads were held by the profiler's stops, for so long in all.
    case profilerOverhead(held: TimeSpan, share: Double)
    case busyMachine(BusyMachine)
}

/// What else the machine did; shares of its time, 0 ... 1, and nil where they do not matter.
package struct BusyMachine: Hashable, Sendable {
    /// Of all cores, for other processes.
    package var others: Double?
    /// Of all cores, taken by the hypervisor.
    package var stolen: Double?
    /// Of the time, in which others than the program waited for storage.
    package var disk: Double?
    /// Of the time, in which somebody waited for a core.
    package var cores: Double?

    static let (leastOthers, leastStolen, leastDisk, leastCores) = (0.1, 0.02, 0.1, 0.1)

    /// nil: it was quiet, or nothing is known.
    init?(_ profile: Profile) {
        func share(
            _ kind: RecorderNote.Kind, least: Double, without own: () -> Double = { 0 }
        ) -> Double? {
            let value = profile.notes.first { $0.kind == kind }?.value ?? 0
            let all = Double(min(value, 1000)) / 1000
            guard all >= least else { return nil }
            let share = all - own()
            return share >= least ? share : nil
        }
        others = share(.busyElsewhere, least: Self.leastOthers)
        stolen = share(.stolen, least: Self.leastStolen)
        disk = share(.diskPressure, least: Self.leastDisk) { Self.shareOfOwnDiskWaits(profile) }
        // The program's own threads may have waited for each other's cores.
        guard others != nil || stolen != nil || disk != nil else { return nil }
        cores = share(.corePressure, least: Self.leastCores)
    }

    /// Of the time, in which the program itself waited for storage.
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
    package func measurementNotes() -> [MeasurementNote] {
        [profilerOverhead, BusyMachine(self).map(MeasurementNote.busyMachine)].compactMap { $0 }
    }

    /// Less does not show: how long, and of the time in which threads had something to do.
    private static let (leastHeld, leastOverhead) = (TimeSpan.milliseconds(5), 0.05)

    private var profilerOverhead: MeasurementNote? {
        let held = header.heldByProfiler
        let busy = threads.reduce(TimeSpan.zero) { $0 + $1.times.wall - $1.times.blocked }
        guard held >= Self.leastHeld, busy > .zero else { return nil }
        let share = min(1, Double(held.nanoseconds) / Double(busy.nanoseconds))
        return share >= Self.leastOverhead ? .profilerOverhead(held: held, share: share) : nil
    }
}
