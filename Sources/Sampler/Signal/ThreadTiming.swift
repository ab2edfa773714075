import Agent
import ProcessIO
import ProfileModel

/// A thread's timer and its samples: see ``SignalTimer``.
final class ThreadTiming {
    /// Makes the thread send us its stacks where it runs its own code; nil: there is none.
    private(set) var timer: SignalTimer?
    /// Where the thread answers its timer's signals. They stay the thread's until its end, because an
    /// answer may come late.
    private(set) var slots: [Int] = []
    /// The last answer, without the stack; or none.
    private(set) var last: [CapturedStack] = []
    /// Samples by the events beside the timer that came while we took earlier ones.
    private(set) var later: [ThreadSamples.Observation] = []
    /// How much CPU time the thread had used when a timer last showed that it works, or was opened.
    private var run: Int64 = 0
    /// How often in a row the timer had to begin again, because no sample arrived.
    private var restarts = 0
    /// Whether a timer of the thread's was found not to work.
    private(set) var isUseless = false

    /// So much CPU time in the thread's own code should have brought a sample.
    private static let patience = TimeSpan.milliseconds(12)
    private static let mostRestarts = 8

    // MARK: The timer

    func add(slot: Int) { slots.append(slot) }

    func begin(_ timer: SignalTimer) { self.timer = timer }

    /// Ends the timer. The thread's answer to the last signal can still be taken.
    func end() { timer = nil }

    /// The memory in which the thread answers is gone, or another's.
    func forget() {
        (timer, slots, later) = (nil, [], [])
        (restarts, isUseless) = (0, false)
    }

    /// Allows the timer to send so many signals more.
    func allow(_ count: Int) { timer?.allow(count) }

    // MARK: Whether it works

    /// - Parameter cpu: how much CPU time the thread has used, in nanoseconds.
    func noteSign(at cpu: Int64) { run = cpu }

    func noteAnswer(at cpu: Int64) {
        run = cpu
        restarts = 0
    }

    /// The thread was in the kernel's code for so long.
    func noteKernel(_ nanoseconds: Int64) { run += nanoseconds }

    func isSilent(at cpu: Int64) -> Bool { cpu - run > Self.patience.nanoseconds }

    /// The timer has to begin again.
    func noteRestart() {
        restarts += 1
        isUseless = restarts > Self.mostRestarts
    }

    // MARK: Samples

    func keep(last answer: CapturedStack) { last = [answer] }

    /// Keeps observations for the next look; those that were kept are replaced.
    func keep(later observations: some Sequence<ThreadSamples.Observation>) {
        later = Array(observations)
    }

    /// The same; those that were kept come after these.
    func keep(first observations: some Collection<ThreadSamples.Observation>) {
        later.insert(contentsOf: observations, at: 0)
    }

    func forgetLater() { later = [] }
}
