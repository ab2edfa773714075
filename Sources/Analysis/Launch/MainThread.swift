package import ProfileModel

/// The main thread at each time. Usually that is the first thread throughout. But some launchers,
/// such as Java's, only create a thread in `main`, run the program in it and wait for its end. Then
/// that thread is the program's main thread for as long as the first one waits.
package struct MainThread: Hashable, Sendable {
    package struct Segment: Hashable, Sendable {
        /// In the profile's list.
        package var thread: Int
        /// Since the launch's start.
        package var range: Range<TimeSpan>
    }

    /// In order and without gaps, from the launch's start to its end. Empty: no first thread is
    /// known, or the launch has no length.
    package private(set) var segments: [Segment] = []
    /// The thread that the first one waits for, and the time; nil: there is none.
    package private(set) var successor: Segment?

    /// - Parameter wall: the launch's length.
    init(first: Int?, successor: Segment? = nil, wall: TimeSpan) {
        guard let first, wall > .zero else { return }
        let whole = Segment(thread: first, range: .zero..<wall)
        guard let successor, successor.thread != first else {
            segments = [whole]
            return
        }
        let range = successor.range.clamped(to: whole.range)
        guard !range.isEmpty else {
            segments = [whole]
            return
        }
        let inner = Segment(thread: successor.thread, range: range)
        self.successor = inner
        segments = [
            Segment(thread: first, range: .zero..<range.lowerBound), inner,
            Segment(thread: first, range: range.upperBound..<wall),
        ].filter { !$0.range.isEmpty }
    }

    /// The main thread if no time is given; nil: not known.
    package var usual: Int? { successor?.thread ?? segments.first?.thread }

    /// All threads that are the main thread at some time.
    package var threads: Set<Int> { Set(segments.map(\.thread)) }

    /// Since the launch's start; nil: not known.
    package func thread(at time: TimeSpan) -> Int? {
        (segments.last { $0.range.lowerBound <= time } ?? segments.first)?.thread
    }

    package func isMain(_ thread: Int, at time: TimeSpan) -> Bool {
        self.thread(at: time) == thread
    }

    /// Whether the first thread waits for the thread that has taken its place. The recorder may
    /// notice that thread some ticks after its start, but its work is the launch's from the wait's
    /// beginning on.
    package func isHandover(_ wait: WaitFigures) -> Bool {
        guard let successor else { return false }
        return wait.thread == segments.first?.thread && wait.thread != successor.thread
            && wait.start <= successor.range.lowerBound && wait.end >= successor.range.upperBound
    }

    /// The times in which a thread is the main thread.
    func windows(of thread: Int) -> TimeWindows {
        TimeWindows(segments.filter { $0.thread == thread }.map(\.range))
    }

    /// The main thread's times in each phase, if the thread changes; nil: it does not.
    func times(in parts: PartList, phases: Int) -> [StateTimes]? {
        guard let successor else { return nil }
        let threads = threads
        let knife = PartCutter([successor.range.lowerBound, successor.range.upperBound])
        var result = [StateTimes](repeating: .zero, count: phases)
        for part in parts where threads.contains(Int(part.thread)) {
            knife.cut(part) { piece, _ in
                guard isMain(Int(piece.thread), at: piece.start) else { return }
                result[Int(piece.phase)] = result[Int(piece.phase)] + piece.times
            }
        }
        return result
    }
}

extension Selection {
    /// The main thread's part of the selection: one selection for each stretch in which the main
    /// thread is the same.
    func divided(by main: MainThread) -> [Selection] {
        main.segments.map { segment in
            var result = self
            result.isOfMainThread = false
            result.threads = [segment.thread]
            guard main.successor != nil else { return result }
            result.windows = windows?.clamped(to: segment.range) ?? TimeWindows([segment.range])
            return result
        }
    }
}

extension TimeWindows {
    /// The part of these windows that lies in a range.
    func clamped(to range: Range<TimeSpan>) -> TimeWindows {
        TimeWindows(ranges.map { $0.clamped(to: range) })
    }

    /// The part of these windows that is also in the others.
    func intersection(_ others: TimeWindows) -> TimeWindows {
        TimeWindows(others.ranges.flatMap { clamped(to: $0).ranges })
    }
}
