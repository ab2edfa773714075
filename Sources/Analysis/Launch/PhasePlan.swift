import ProfileModel

/// The borders of a launch's phases, from the borders and the images in the recording.
///
/// Borders that are missing or out of order (a program that died early, a recording that was cut
/// short) never break the tiling: phases are forced into order and into the launch.
struct PhasePlan {
    struct Border {
        var name: String
        /// As ``Phase/whole`` and ``Phase/startPrecision``.
        var whole: String?
        var precision = TimeSpan.zero
        var group: Phase.Group
        var time: MonotonicTime
        var counters = ProcessCounters()
    }

    /// In order of time; no two have the same time, and all are before ``end``.
    private(set) var borders: [Border] = []
    private(set) var start: MonotonicTime
    private(set) var end: MonotonicTime
    private let finalCounters: ProcessCounters

    init(_ recording: Recording) {
        let launch = recording.borders.map {
            LaunchBorder(kind: $0.kind, time: $0.time.clamped, counters: $0.counters)
        }
        let first = launch.first { $0.kind == (recording.header.isAttached ? .attached : .spawned) }
        let last = launch.last { $0.kind == .ended }
        start = first?.time ?? Self.earliest(in: recording, launch)
        let recorded = max(start, last?.time ?? Self.latest(in: recording, launch))
        let signposts = SignpostPhases(recording)
        end = signposts.launchEnd(from: start, recorded: recorded)
        finalCounters = end == recorded ? last?.counters ?? ProcessCounters() : ProcessCounters()
        let wanted =
            recording.header.isAttached
            ? [
                Self.border(
                    Phase.Names.attached, .afterMain,
                    first ?? LaunchBorder(kind: .attached, time: start))
            ]
            : Self.phaseBorders(
                recording.images, launch: launch, start: start,
                hasDynamicLinker: Self.hasDynamicLinker(recording))
        let parts = InterpreterPhases(recording).divide(wanted, end: end)
        borders = inOrder(signposts.divide(parts, end: end))
    }

    /// The plan of a launch of which only the borders and images are known.
    ///
    /// - Parameter hasDynamicLinker: whether the last image has one.
    init(_ launch: [LaunchBorder], images: [Image], hasDynamicLinker: Bool) {
        start =
            launch.first { $0.kind == .spawned }?.time ?? launch.map(\.time).min()
            ?? MonotonicTime(nanoseconds: 0)
        let last = launch.last { $0.kind == .ended }
        end = max(start, last?.time ?? launch.map(\.time).max() ?? start)
        finalCounters = last?.counters ?? ProcessCounters()
        borders = inOrder(
            Self.phaseBorders(
                images, launch: launch, start: start, hasDynamicLinker: hasDynamicLinker))
    }

    /// One phase for each border, without threads' times.
    func phases() -> [Phase] {
        borders.indices.map { index in
            let border = borders[index]
            let isLast = index == borders.count - 1
            let until = isLast ? end : borders[index + 1].time
            return Phase(
                name: border.name, whole: border.whole, group: border.group,
                start: border.time - start, startPrecision: border.precision,
                wall: until - border.time, counters: counters(from: index, to: index + 1))
        }
    }

    /// The phases, with parts joined again into the phase that they are parts of.
    ///
    /// - Parameter phases: the completed ``phases()``.
    func wholes(_ phases: [Phase]) -> [Phase] {
        var result: [Phase] = []
        var first = 0
        for (index, phase) in phases.enumerated() {
            guard let whole = phase.whole, index > 0, phases[index - 1].whole == whole,
                let last = result.indices.last
            else {
                first = index
                result.append(phase)
                result[result.count - 1].name = phase.wholeName
                result[result.count - 1].whole = nil
                continue
            }
            result[last].add(phase)
            result[last].counters = counters(from: first, to: index + 1)
        }
        return result
    }

    /// The counters' increase between two borders, the last of which may be the end.
    private func counters(from first: Int, to last: Int) -> ProcessCounters {
        let later = last < borders.count ? borders[last].counters : finalCounters
        return later.difference(from: borders[first].counters)
    }

    private func inOrder(_ wanted: [Border]) -> [Border] {
        var result: [Border] = []
        var latest = start
        for var border in wanted {
            border.time = min(max(border.time, latest), end)
            latest = border.time
            // A phase of zero length did not occur.
            if let last = result.last, last.time == border.time { result.removeLast() }
            if border.time < end { result.append(border) }
        }
        return result
    }

    private static func border(_ name: String, _ group: Phase.Group, _ start: LaunchBorder)
        -> Border
    {
        Border(name: name, group: group, time: start.time, counters: start.counters)
    }

    /// A phase that every launch reaches, and the border that begins it.
    private struct Step {
        var name: String
        /// nil: the border was not seen.
        var border: LaunchBorder?
    }

    /// Each border that was seen begins its phase. Where the next border is missing, the phase says
    /// how far the launch is known to be, and not more.
    private static func phaseBorders(
        _ images: [Image], launch: [LaunchBorder], start: MonotonicTime, hasDynamicLinker: Bool
    ) -> [Border] {
        let starts = imageStarts(images, launch)
        let first = starts.last
        let later = launch.filter { $0.time >= (first?.time ?? start) }
        let relocated = later.first { $0.kind == .relocated }
        let main = later.first {
            $0.kind == .main && $0.time >= (relocated?.time ?? first?.time ?? start)
        }
        let spawned = launch.first { $0.kind == .spawned }
        let wrappers = zip(images, starts).dropLast().map { image, start in
            border("Wrapper: \(image.name)", .beforeMain, start)
        }
        var steps = [Step(name: Phase.Names.creation, border: spawned)]
        if hasDynamicLinker || relocated != nil {
            steps.append(Step(name: Phase.Names.linking, border: first))
            steps.append(Step(name: Phase.Names.initialisers, border: relocated))
        } else {
            steps.append(Step(name: Phase.Names.initialisers, border: first))
        }
        steps.append(Step(name: Phase.Names.main, border: main))
        var result = steps.indices.compactMap { index in
            border(of: steps, at: index, isExecuted: first != nil, launch)
        }
        if spawned == nil {
            let isDivided = first != nil || relocated != nil || main != nil
            let opening = LaunchBorder(kind: .spawned, time: start)
            result.insert(undivided(from: opening, isBeforeMain: isDivided), at: 0)
        }
        result.insert(contentsOf: wrappers, at: min(1, result.count))
        return result
    }

    /// - Parameter isExecuted: false if no program was executed. Then no phase follows *Process
    ///   creation*.
    private static func border(
        of steps: [Step], at index: Int, isExecuted: Bool, _ launch: [LaunchBorder]
    ) -> Border? {
        guard let start = steps[index].border else { return nil }
        let name = steps[index].name
        let isMain = index == steps.count - 1
        // The image was already running when the recorder noticed it.
        let isDivided = start.kind != .attached
        guard let next = steps[(index + 1)...].firstIndex(where: { $0.border != nil }) else {
            // A later border would have been recorded, so the launch did not reach it.
            let isInProgress =
                isMain || (index == 0 && !isExecuted)
                || launch.contains { $0.kind == .watched && $0.time >= start.time }
            return isInProgress && isDivided
                ? border(name, isMain ? .afterMain : .beforeMain, start)
                : undivided(from: start, isBeforeMain: false)
        }
        return next == index + 1 && isDivided
            ? border(name, .beforeMain, start) : undivided(from: start, isBeforeMain: true)
    }

    /// The time of several phases whose borders were not seen.
    private static func undivided(from start: LaunchBorder, isBeforeMain: Bool) -> Border {
        isBeforeMain
            ? border(Phase.Names.beforeMain, .beforeMain, start)
            : border(Phase.Names.undivided, .afterMain, start)
    }

    /// The start of each image; without counters if no border has them.
    private static func imageStarts(_ images: [Image], _ launch: [LaunchBorder]) -> [LaunchBorder] {
        let found = launch.filter { [.firstInstruction, .attached].contains($0.kind) }
        if images.isEmpty { return found.suffix(1) }
        return images.enumerated().map { index, image in
            index < found.count
                ? found[index] : LaunchBorder(kind: .firstInstruction, time: image.time.clamped)
        }
    }

    /// Whether the last image has a dynamic linker: a wrapper before it may have had its own.
    private static func hasDynamicLinker(_ recording: Recording) -> Bool {
        let last = recording.images.count > 1 ? recording.images.last?.time : nil
        guard last != nil || !recording.children.isEmpty else {
            return recording.modules.contains(where: \.isDynamicLinker)
        }
        return recording.mappings.contains { mapping in
            mapping.child == nil && recording.modules.indices.contains(mapping.module.rawValue)
                && recording.modules[mapping.module.rawValue].isDynamicLinker
                && last.map { mapping.time >= $0 } ?? true
        }
    }

    private static func earliest(in recording: Recording, _ launch: [LaunchBorder]) -> MonotonicTime
    {
        let images = recording.images.lazy.map(\.time.clamped)
        let slices = recording.slices.lazy.map(\.start.clamped)
        return [launch.map(\.time).min(), images.min(), slices.min()].compactMap { $0 }.min()
            ?? MonotonicTime(nanoseconds: 0)
    }

    private static func latest(in recording: Recording, _ launch: [LaunchBorder]) -> MonotonicTime {
        let images = recording.images.lazy.map(\.time.clamped)
        let slices = recording.slices.lazy.map { $0.clamped.end }
        return [launch.map(\.time).max(), images.max(), slices.max()].compactMap { $0 }.max()
            ?? MonotonicTime(nanoseconds: 0)
    }
}

extension Module {
    /// glibc's `ld-linux…`, musl's `ld-musl…`.
    var isDynamicLinker: Bool { name.hasPrefix("ld-") || name.hasPrefix("ld.so") }
}

extension Phase {
    /// Joins the following phase to this one, except for the counters.
    fileprivate mutating func add(_ next: Phase) {
        wall = wall + next.wall
        held = held + next.held
        cpu = cpu + next.cpu
        mainThread = mainThread + next.mainThread
    }
}

extension ProcessCounters {
    /// The difference; nil: one of the two is not known, or the counter fell. Then it was reset,
    /// and the difference means nothing.
    fileprivate func difference(from earlier: ProcessCounters) -> ProcessCounters {
        func difference(_ field: KeyPath<ProcessCounters, Int64?>) -> Int64? {
            guard let later = self[keyPath: field], let first = earlier[keyPath: field],
                first >= 0, later >= first
            else { return nil }
            return later - first
        }
        return ProcessCounters(
            minorFaults: difference(\.minorFaults), majorFaults: difference(\.majorFaults),
            readBytes: difference(\.readBytes))
    }
}
