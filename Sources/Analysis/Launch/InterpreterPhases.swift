import ProfileModel

/// Divides *Main* (or a launch that is not divided) of a Python program by its stacks: the
/// interpreter's start-up, the imports of the program's first module, and the program.
///
/// The first thread's slices decide. The start-up ends where stacks first show `__main__`. After
/// it, imports and other work may alternate. *Imports* ends where the least time is on the wrong
/// side: work before the border, imports of `__main__` after it.
struct InterpreterPhases {
    /// A stretch of the first thread's time whose purpose is known.
    struct Stretch: Hashable {
        enum Kind: Hashable { case starting, importing, working }
        var kind: Kind
        var range: Range<MonotonicTime>
        /// The part of it that may belong to another kind. A waiting thread had the same stack
        /// throughout.
        var unsure: TimeSpan
    }

    private let recording: Recording

    init(_ recording: Recording) { self.recording = recording }

    /// The borders, with *Main* replaced by its parts if enough is known for that.
    func divide(_ borders: [PhasePlan.Border], end: MonotonicTime) -> [PhasePlan.Border] {
        guard !recording.header.isAttached, let main = borders.last,
            [Phase.Names.main, Phase.Names.undivided].contains(main.name), main.time < end
        else { return borders }
        // The time after readiness is no part of *Main*.
        let last = min(recording.ready?.time.clamped ?? end, end)
        let parts = Self.parts(of: main, stretches(from: main.time, until: last))
        return parts.isEmpty ? borders : borders.dropLast() + parts
    }

    /// In the order of time.
    private func stretches(from start: MonotonicTime, until end: MonotonicTime) -> [Stretch] {
        let thread = recording.threads.firstIndex { $0.isMain && $0.child == nil }
        guard let thread, var stacks = ScriptStacks(recording) else { return [] }
        var result: [Stretch] = []
        for slice in recording.slices where slice.thread.rawValue == thread {
            let slice = slice.clamped
            guard slice.truncation == nil, let stack = slice.stack,
                (start..<end).contains(slice.start), slice.times.wall > .zero,
                let kind = stacks.place(of: stack).flatMap(Stretch.Kind.init)
            else { continue }
            result.append(
                Stretch(
                    kind: kind, range: slice.start..<min(slice.end, end),
                    unsure: slice.times.wall - slice.times.blocked))
        }
        return result.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    /// Empty: no stack shows the program.
    static func parts(
        of main: PhasePlan.Border, _ stretches: [Stretch]
    ) -> [PhasePlan.Border] {
        guard let first = stretches.firstIndex(where: { $0.kind != .starting }) else { return [] }
        var whole = main
        whole.whole = main.name
        // If the start of `main` was not seen, more than the interpreter's start-up came before.
        if main.name == Phase.Names.main { whole.name = Phase.Names.interpreter }
        func part(_ name: String, before stretch: Stretch, after last: MonotonicTime)
            -> PhasePlan.Border
        {
            PhasePlan.Border(
                name: name, whole: main.name,
                precision: stretch.range.lowerBound - last + stretch.unsure, group: main.group,
                time: stretch.range.lowerBound)
        }
        let program = stretches[first...].filter { $0.kind != .starting }
        let started = first > 0 ? stretches[first - 1].range.upperBound : main.time
        let imports = importCount(program)
        guard imports > 0 else {
            return [whole, part(Phase.Names.program, before: program[0], after: started)]
        }
        var result = [whole, part(Phase.Names.imports, before: program[0], after: started)]
        let last = program[imports - 1].range.upperBound
        if imports < program.count {
            var border = part(Phase.Names.program, before: program[imports], after: last)
            // The time between them belongs to neither; the last stack of an import is there.
            border.time = last
            result.append(border)
        } else {
            result.append(
                PhasePlan.Border(
                    name: Phase.Names.program, whole: main.name, group: main.group, time: last))
        }
        return result
    }

    /// The number of leading stretches that are *Imports*: the number that leaves the least time on
    /// the wrong side.
    private static func importCount(_ program: [Stretch]) -> Int {
        var cost = Int64(0)
        var (best, least) = (0, Int64(0))
        for (index, stretch) in program.enumerated() {
            let wall = (stretch.range.upperBound - stretch.range.lowerBound).nanoseconds
            cost &+= stretch.kind == .importing ? -wall : wall
            if cost < least { (best, least) = (index + 1, cost) }
        }
        return best
    }
}

extension InterpreterPhases.Stretch.Kind {
    /// nil: the stack does not show it.
    fileprivate init?(_ place: ScriptStacks.Place) {
        switch place {
        case .native, .embedded: return nil
        case .starting: self = .starting
        case .finding, .importing: self = .importing
        case .module, .calling: self = .working
        }
    }
}
