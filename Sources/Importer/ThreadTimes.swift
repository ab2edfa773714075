import ProfileModel

/// Makes pieces of time from perf's records of one thread: the times of its samples, the CPU time
/// that each sample represents, and, if recorded, when it left its core and came back. Unknown time
/// makes no piece.
struct ThreadTimes<Stack> {
    struct Piece {
        var start: MonotonicTime
        var times: StateTimes
        /// nil: no stack was recorded.
        var stack: Stack?

        var end: MonotonicTime { start + times.wall }
    }

    private struct Departure {
        var time: MonotonicTime
        var isPushed: Bool
        var stack: Stack?
    }

    private enum Activity {
        /// Nothing is known between samples.
        case unknown
        case running(since: MonotonicTime)
        /// It may be back already, if arrivals are not recorded.
        case away(Departure)
    }

    /// The time between two known moments, kept until the next sample.
    private struct Stretch {
        enum Kind {
            case running
            case away(Departure)
            /// Away at its start, and running at its end.
            case mixed(Departure)
        }

        var kind: Kind
        var start: MonotonicTime
        var end: MonotonicTime
        /// The stack of the sample at its end.
        var stack: Stack?
        /// The stack with which the thread left its core at its end (in the kernel's scheduler).
        /// Used only where no sample follows.
        var parting: Stack?

        var length: TimeSpan { end - start }
    }

    /// True if the file records switches at all.
    private let knowsSwitches: Bool
    /// The most CPU time that did not fit before its samples and that later samples may take over,
    /// in samples: with two clocks that complement each other, a millisecond may have a sample of
    /// each, and the next one none.
    private let mostOwed: Int64
    private var activity = Activity.unknown
    /// The end of the pieces made so far.
    private var end: MonotonicTime
    private var hasSample = false
    /// CPU time that samples represent, but that did not fit before them.
    private var owed = TimeSpan.zero
    /// CPU time in pieces since the last sample.
    private var ranSinceSample = TimeSpan.zero
    private var held: [Stretch] = []
    /// Pieces that wait for the stack of the next sample, and the stack that each has without one.
    private var waiting: [(piece: Piece, parting: Stack?)] = []
    private var result: [Piece] = []
    /// Waits whose end was not recorded.
    private(set) var estimates: Int64 = 0

    /// With more, they would be switches that no sample ever follows.
    private static var mostHeld: Int { 4096 }

    /// - Parameter start: the thread did not run before, as far as is known without samples.
    init(start: MonotonicTime, knowsSwitches: Bool, clocks: Int = 1) {
        end = start
        mostOwed = clocks > 1 ? 16 : 1
        self.knowsSwitches = knowsSwitches
    }

    // MARK: Events

    /// The thread runs from here on (it executed a program).
    mutating func begins(at time: MonotonicTime) -> [Piece] {
        if knowsSwitches, time >= end {
            activity = .running(since: time)
            end = time
        }
        return taken()
    }

    /// - Parameter cpu: the CPU time that the sample represents, since the previous one.
    mutating func sample(at time: MonotonicTime, cpu: TimeSpan, stack: Stack) -> [Piece] {
        guard time >= end else { return [] }
        switch activity {
        case .unknown: takeAlone(at: time, cpu, stack)
        case .running(let since):
            close(Stretch(kind: .running, start: since, end: time, stack: stack))
        case .away(let departure):
            held.append(
                Stretch(kind: .mixed(departure), start: departure.time, end: time, stack: stack))
        }
        resolve(cpu: cpu)
        ranSinceSample = .zero
        if knowsSwitches { activity = .running(since: time) }
        supply(stack, cpu)
        return taken()
    }

    mutating func left(at time: MonotonicTime, isPushed: Bool, stack: Stack?) -> [Piece] {
        let departure = Departure(time: time, isPushed: isPushed, stack: stack)
        guard time >= lastMoment else { return [] }
        switch activity {
        case .unknown: end = time
        case .running(let since):
            close(Stretch(kind: .running, start: since, end: time, parting: stack))
        case .away(let before):
            // It had come back in the meantime; the next sample's CPU time tells when.
            held.append(
                Stretch(kind: .mixed(before), start: before.time, end: time, parting: stack))
        }
        activity = .away(departure)
        if held.count > Self.mostHeld { resolve(cpu: .zero) }
        return taken()
    }

    mutating func arrived(at time: MonotonicTime) -> [Piece] {
        guard time >= lastMoment else { return [] }
        switch activity {
        case .unknown: end = time
        case .running: return []
        case .away(let departure):
            close(Stretch(kind: .away(departure), start: departure.time, end: time, stack: nil))
        }
        activity = .running(since: time)
        return taken()
    }

    /// The thread's end, or the recording's.
    mutating func finish(at time: MonotonicTime) -> [Piece] {
        if case .running(let since) = activity, time > since {
            close(Stretch(kind: .running, start: since, end: time, stack: nil))
        }
        activity = .unknown
        resolve(cpu: .zero)
        flushWaiting()
        return taken()
    }

    private var lastMoment: MonotonicTime {
        switch activity {
        case .unknown: end
        case .running(let since): max(since, end)
        case .away(let departure): max(departure.time, end)
        }
    }

    private mutating func taken() -> [Piece] {
        defer { result = [] }
        return result
    }

    // MARK: Without switches

    /// The time that a sample represents is right before it, but never reaches back beyond the last
    /// sample. If it is too long (samples are late now and then), the next samples get the rest.
    /// The first sample may represent more than the thread's life: where perf counts for cores
    /// (`-a`), it includes threads that ran there before, as perf's totals do.
    private mutating func takeAlone(at time: MonotonicTime, _ cpu: TimeSpan, _ stack: Stack) {
        if !hasSample { end = min(end, max(time - cpu, MonotonicTime(nanoseconds: 0))) }
        hasSample = true
        let room = time - end
        let wanted = cpu + owed
        let running = min(wanted, room)
        owed = min(
            wanted - running,
            TimeSpan(
                nanoseconds: cpu.nanoseconds.multipliedReportingOverflow(by: mostOwed).partialValue)
        )
        emit(time - running, StateTimes(running: running), stack)
    }

    // MARK: With switches

    private mutating func close(_ stretch: Stretch) {
        if held.isEmpty { emit(stretch, away: stretch.length) } else { held.append(stretch) }
    }

    /// Resolves the held stretches. The thread ran for so much of the mixed ones that the total is
    /// the sample's CPU time; each gets a share by its length.
    private mutating func resolve(cpu: TimeSpan) {
        guard !held.isEmpty else { return }
        var (running, mixed) = (ranSinceSample, TimeSpan.zero)
        for stretch in held {
            switch stretch.kind {
            case .running: running = running + stretch.length
            case .mixed: mixed = mixed + stretch.length
            case .away: break
            }
        }
        let ran = max(.zero, min(mixed, cpu - running))
        let parts = StateTimes(running: ran, blocked: mixed - ran)
        let stretches = held
        held = []
        var (passed, blocked) = (TimeSpan.zero, TimeSpan.zero)
        for stretch in stretches {
            guard case .mixed = stretch.kind else {
                emit(stretch, away: stretch.length)
                continue
            }
            estimates += 1
            passed = passed + stretch.length
            let blockedSoFar = parts.blockedShare(of: passed)
            emit(stretch, away: blockedSoFar - blocked)
            blocked = blockedSoFar
        }
    }

    private mutating func emit(_ stretch: Stretch, away: TimeSpan) {
        switch stretch.kind {
        case .running:
            ranSinceSample = ranSinceSample + stretch.length
            emit(
                stretch.start, StateTimes(running: stretch.length), stretch.stack,
                parting: stretch.parting)
        case .away(let departure), .mixed(let departure):
            let times =
                departure.isPushed ? StateTimes(preempted: away) : StateTimes(blocked: away)
            emit(stretch.start, times, departure.stack, waits: false)
            let rest = stretch.length - away
            if rest > .zero {
                emit(
                    stretch.start + away, StateTimes(running: rest), stretch.stack,
                    parting: stretch.parting)
            }
        }
    }

    /// - Parameter waits: true if a piece without a stack gets the next sample's stack.
    private mutating func emit(
        _ start: MonotonicTime, _ times: StateTimes, _ stack: Stack?, parting: Stack? = nil,
        waits: Bool = true
    ) {
        let piece = Piece(start: max(start, end), times: times, stack: stack)
        guard times.wall > .zero, piece.end >= end else { return }
        end = piece.end
        if (stack == nil && waits && knowsSwitches) || !waiting.isEmpty {
            waiting.append((piece, parting))
            if waiting.count > Self.mostHeld { flushWaiting() }
        } else {
            result.append(piece)
        }
    }

    /// The most running time before a sample that its stack explains, in multiples of the CPU time
    /// that the sample represents: samples are late now and then. Running time further back has no
    /// sample: sampling had not begun, or samples were lost. The number is chosen, not measured.
    private static var mostExplained: Int64 { 8 }

    /// Charges the time up to a sample to the stack of that sample.
    private mutating func supply(_ stack: Stack, _ cpu: TimeSpan) {
        var room = cpu.nanoseconds.multipliedReportingOverflow(by: Self.mostExplained).partialValue
        for index in waiting.indices.reversed() {
            let running = waiting[index].piece.times.running
            if room > 0, running > .zero, waiting[index].piece.stack == nil {
                waiting[index].piece.stack = stack
            }
            room = max(0, room - running.nanoseconds)
        }
        flushWaiting()
    }

    private mutating func flushWaiting() {
        result += waiting.map { piece, parting in
            var piece = piece
            piece.stack = piece.stack ?? parting
            return piece
        }
        waiting = []
    }
}

extension StateTimes {
    /// The blocked part of the first `passed`, if blocked time is spread evenly.
    fileprivate func blockedShare(of passed: TimeSpan) -> TimeSpan {
        let wall = self.wall.nanoseconds
        guard wall > 0 else { return .zero }
        let part = min(max(passed.nanoseconds, 0), wall)
        let product = blocked.nanoseconds.multipliedFullWidth(by: part)
        return TimeSpan(nanoseconds: wall.dividingFullWidth(product).quotient)
    }
}
