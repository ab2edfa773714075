package import ProfileModel

/// Which thread was the main thread when. Usually that is the first thread, always. But some
/// launchers, such as Java's, only make a thread in `main`, run the program in it and wait for its
/// end. Then that thread is the program's main thread for as long as the first one waits.
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
    /// The thread that the first one waits for, and when; nil: there is none.
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

    /// The one that is meant when no time is given; nil: not known.
    package var usual: Int? { successor?.thread ?? segments.first?.thread }

    /// All that are the main thread at some time.
    package var threads: Set<Int> { Set(segments.map(\.thread)) }

    /// Since the launch's start; nil: not known.
    package func thread(at time: TimeSpan) -> Int? {
        (segments.last { $0.range.lowerBound <= time } ?? segments.first)?.thread
    }

    package func isMain(_ thread: Int, at time: TimeSpan) -> Bool {
        self.thread(at: time) == thread
    }

    /// Whether the first thread waits for the one that has taken its place. That one may be seen some
    /// ticks after it began, but what it does is the launch's work from the wait's beginning on.
    package func isHandover(_ wait: WaitFigures) -> Bool {
        guard let successor else { return false }
        return wait.thread == segments.first?.thread && wait.thread != successor.thread
            && wait.start <= successor.range.lowerBound && wait.end >= successor.range.upperBound
    }

    /// When a thread is the main thread.
    func windows(of thread: Int) -> TimeWindows {
        TimeWindows(segments.filter { $0.thread == thread }.map(\.range))
    }

    /// What it did in each phase, where it is not the same thread throughout; nil: it is.
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
    /// What of them lies in a range.
    func clamped(to range: Range<TimeSpan>) -> TimeWindows {
        TimeWindows(ranges.map { $0.clamped(to: range) })
    }

    /// What of them lies in the others, too.
    func intersection(_ others: TimeWindows) -> TimeWindows {
        TimeWindows(others.ranges.flatMap { clamped(to: $0).ranges })
    }
}
