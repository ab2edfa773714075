package import ProfileModel

extension MeasuredLaunch {
    /// Divides an observed launch into phases, like those of recordings, and leaves out the time
    /// that measuring took.
    ///
    /// Whether a launch counts is decided here only from the launch itself. Whether it is the
    /// first, was cold, or ended like the others, is not known here.
    ///
    /// - Parameters:
    ///   - arm: which of ``Measurement/arms``.
    ///   - start: the measurement's start.
    package init(_ observed: ObservedLaunch, arm: Int = 0, since start: MonotonicTime) {
        let held = HeldTime(observed.borders)
        func moved(_ border: LaunchBorder) -> LaunchBorder {
            LaunchBorder(
                kind: border.kind, time: held.without(border.time), counters: border.counters)
        }
        let plan = PhasePlan(
            observed.borders.map(moved), images: observed.images,
            hasDynamicLinker: observed.isDynamic)
        let begun = observed.borders.first { $0.kind == .spawned }?.time ?? start
        let ended = observed.borders.last { $0.kind == .ended }?.time ?? begun
        self.init(
            arm: arm, start: begun - start, wall: plan.end - plan.start, outcome: observed.outcome)
        self.held = held.total(before: ended)
        var used: [MonotonicTime: TimeSpan] = [:]
        for (time, cpu) in observed.cpu.sorted(by: { $0.key < $1.key }) {
            used[held.without(time)] = cpu
        }
        phases = plan.phases().map { phase in
            let (first, last) = (plan.start + phase.start, plan.start + phase.end)
            return MeasuredPhase(
                name: phase.name, wall: phase.wall,
                cpu: Self.difference(from: used[first], to: used[last]))
        }
        cpu = Self.difference(from: used[plan.start], to: used[plan.end])
        mainBlocked = observed.mainBlocked.map { min($0, wall) }
        minorFaults = observed.counters.minorFaults
        majorFaults = observed.counters.majorFaults
        readBytes = observed.counters.readBytes
        processes = observed.processes
        otherWork = observed.otherWork
        stolen = observed.stolen
        frequency = observed.frequency
        readyBy = observed.ready?.by
        discarded = Self.discard(observed)
    }

    /// nil where either is unknown, or where the clock went back, so that the difference means nothing.
    private static func difference(from first: TimeSpan?, to last: TimeSpan?) -> TimeSpan? {
        guard let first, let last, first <= last else { return nil }
        return last - first
    }

    private static func discard(_ observed: ObservedLaunch) -> Discard? {
        if observed.isInterrupted { return .interrupted }
        if observed.isHung { return .hung }
        if case .signalled = observed.outcome, observed.ready == nil { return .failed }
        return observed.awaitsReady && observed.ready == nil ? .notReady : nil
    }
}
