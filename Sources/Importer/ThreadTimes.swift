import ProfileModel

/// Makes pieces of time of what perf tells of one thread: at which moments it was sampled, and
/// for how much CPU time each sample stands; and, where that was recorded, when it left its core
/// and came back. What is not told stays unknown: it is no piece.
struct ThreadTimes<Stack> {
    struct Piece {
        var start: MonotonicTime
        var times: StateTimes
        /// nil: none was recorded.
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
        /// It may be back since, where arrivals are not recorded.
        case away(Departure)
    }

    /// What lies between two moments that are known, when it must wait for the next sample.
    private struct Stretch {
        enum Kind {
            case running
            case away(Departure)
            /// Away at its beginning, and running at its end.
            case mixed(Departure)
        }

        var kind: Kind
        var start: MonotonicTime
        var end: MonotonicTime
        /// At its end.
        var stack: Stack?

        var length: TimeSpan { end - start }
    }

    /// Whether the file tells of switches at all.
    private let knowsSwitches: Bool
    private var activity = Activity.unknown
    /// Up to when pieces were made.
    private var end: MonotonicTime
    /// CPU time that samples stand for and that had no room before them.
    private var owed = TimeSpan.zero
    /// CPU time in pieces since the last sample.
    private var ranSinceSample = TimeSpan.zero
    private var held: [Stretch] = []
    /// Pieces that wait for the stack of the next sample.
    private var waiting: [Piece] = []
    private var result: [Piece] = []
    /// Waits whose end was not recorded.
    private(set) var estimates: Int64 = 0

    /// More would be switches that no sample ever follows.
    private static var mostHeld: Int { 4096 }

    /// - Parameter start: nothing was before.
    init(start: MonotonicTime, knowsSwitches: Bool) {
        end = start
        self.knowsSwitches = knowsSwitches
    }

    // MARK: What happens

    /// The thread runs from here on (it executed a program).
    mutating func begins(at time: MonotonicTime) -> [Piece] {
        if knowsSwitches, time >= end {
            activity = .running(since: time)
            end = time
        }
        return taken()
    }

    /// - Parameter cpu: for how much CPU time the sample stands, since the one before.
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
        supply(stack)
        return taken()
    }

    mutating func left(at time: MonotonicTime, isPushed: Bool, stack: Stack?) -> [Piece] {
        let departure = Departure(time: time, isPushed: isPushed, stack: stack)
        guard time >= lastMoment else { return [] }
        switch activity {
        case .unknown: end = time
        case .running(let since):
            close(Stretch(kind: .running, start: since, end: time, stack: stack))
        case .away(let before):
            // It was back meanwhile; since when, the next sample's CPU time tells.
            held.append(
                Stretch(kind: .mixed(before), start: before.time, end: time, stack: stack))
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

    /// The time for which a sample stands lies right before it; never more than there was since
    /// the last one: what is too much (samples come late now and then) the next ones get.
    private mutating func takeAlone(at time: MonotonicTime, _ cpu: TimeSpan, _ stack: Stack) {
        let room = time - end
        let wanted = cpu + owed
        let running = min(wanted, room)
        owed = min(wanted - running, cpu)
        emit(time - running, StateTimes(running: running), stack)
    }

    // MARK: With switches

    private mutating func close(_ stretch: Stretch) {
        if held.isEmpty { emit(stretch, away: stretch.length) } else { held.append(stretch) }
    }

    /// Puts the held stretches down: of the mixed ones so much was running that all of it
    /// together is the sample's CPU time; each has a share by its length.
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
            emit(stretch.start, StateTimes(running: stretch.length), stretch.stack)
        case .away(let departure), .mixed(let departure):
            let times =
                departure.isPushed ? StateTimes(preempted: away) : StateTimes(blocked: away)
            emit(stretch.start, times, departure.stack, waits: false)
            let rest = stretch.length - away
            if rest > .zero {
                emit(stretch.start + away, StateTimes(running: rest), stretch.stack)
            }
        }
    }

    /// - Parameter waits: whether the next sample's stack is the piece's, if it has none.
    private mutating func emit(
        _ start: MonotonicTime, _ times: StateTimes, _ stack: Stack?, waits: Bool = true
    ) {
        let piece = Piece(start: max(start, end), times: times, stack: stack)
        guard times.wall > .zero, piece.end >= end else { return }
        end = piece.end
        if (stack == nil && waits && knowsSwitches) || !waiting.isEmpty {
            waiting.append(piece)
            if waiting.count > Self.mostHeld { flushWaiting() }
        } else {
            result.append(piece)
        }
    }

    /// The time up to a sample is charged to the stack that it found.
    private mutating func supply(_ stack: Stack) {
        for index in waiting.indices
        where waiting[index].stack == nil && waiting[index].times.running > .zero {
            waiting[index].stack = stack
        }
        flushWaiting()
    }

    private mutating func flushWaiting() {
        result += waiting
        waiting = []
    }
}

extension StateTimes {
    /// How much of the first `passed` is blocked, when it is spread evenly.
    fileprivate func blockedShare(of passed: TimeSpan) -> TimeSpan {
        let wall = self.wall.nanoseconds
        guard wall > 0 else { return .zero }
        let part = min(max(passed.nanoseconds, 0), wall)
        let product = blocked.nanoseconds.multipliedFullWidth(by: part)
        return TimeSpan(nanoseconds: wall.dividingFullWidth(product).quotient)
    }
}
