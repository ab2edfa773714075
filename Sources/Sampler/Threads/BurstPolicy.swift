import ProfileModel

/// The kind of call in which a look found a thread blocked. It says how the thread may be
/// interrupted when it runs again, without ending such a call early if it has just entered it.
enum WaitKind: Int, Comparable, Sendable {
    /// The call goes on after a signal handler that was installed with SA_RESTART.
    case restartsAfterHandler
    /// The call goes on only after a stop, when the thread is resumed.
    case restartsAfterStop
    /// The call fails with EINTR in either case.
    case fragile

    static func < (left: WaitKind, right: WaitKind) -> Bool { left.rawValue < right.rawValue }
}

/// Decides how a thread may be looked at within a burst, its run on a core between two waits. A
/// signal or a stop that arrives when the thread is just entering a sleep can end the sleep early;
/// where a thread sleeps often, this would happen often.
struct BurstPolicy: Hashable, Sendable {
    enum Approach: Hashable, Sendable {
        case signal
        case stop
        /// Not at all: a signal or a stop could end its next wait.
        case spare
    }

    /// How long a kind of wait is remembered.
    static let memory = TimeSpan.milliseconds(1000)

    private var worst: WaitKind?
    private var worstSeen = MonotonicTime(nanoseconds: 0)
    /// How often it had left its core by itself when it was last seen running.
    private var voluntary: Int64?
    /// How many looks in a row did not find it in a wait that a signal could end for good.
    private var busyLooks = 0

    /// After so many looks that found it running, with no wait in between that a signal could end for
    /// good, it works most of the time between such waits: at most one in a hundred is hit by its tick,
    /// and how often it waits need not be asked any more.
    static let enoughLooks = 32

    var isAtWork: Bool { busyLooks >= Self.enoughLooks }

    /// Whether it ever waited in a call that a stop ends, too. It may enter the next such call
    /// between a look that finds it at work and the stop, which is milliseconds where we have no
    /// core meanwhile. So it is stopped in its own code only.
    private(set) var hasWaitedFragile = false

    init() {}

    /// It was found waiting.
    ///
    /// - Parameter isMadeAgain: whether our handler makes the call again that its signal ends: then
    ///   a signal does no harm.
    mutating func sawWait(_ kind: WaitKind, isMadeAgain: Bool = false, at now: MonotonicTime) {
        if kind > .restartsAfterHandler, !isMadeAgain {
            busyLooks = 0
        }
        if kind == .fragile { hasWaitedFragile = true }
        // When the count was read, the thread may have left its core for this very wait.
        voluntary = nil
        if let worst, worst > kind, now - worstSeen < Self.memory { return }
        worst = kind
        worstSeen = now
    }

    /// Whether it may have waited for something since it was found running last, or we stopped it.
    func hasWaited(voluntary: Int64) -> Bool { voluntary != self.voluntary }

    /// It was found running.
    ///
    /// - Parameter voluntary: how often it has left its core by itself so far, its waits and our
    ///   stops included.
    mutating func approach(voluntary: Int64, at now: MonotonicTime) -> Approach {
        defer { self.voluntary = voluntary }
        busyLooks += 1
        if isAtWork { return .signal }
        // The thread has not waited since the last look: it is at work, not about to wait.
        if voluntary == self.voluntary { return .signal }
        guard let worst, now - worstSeen < Self.memory else { return .stop }
        return switch worst {
        case .restartsAfterHandler: .signal
        case .restartsAfterStop: .stop
        case .fragile: .spare
        }
    }

    /// It was stopped by us and has not been resumed: that stop counted as leaving its core.
    mutating func sawStop(voluntary: Int64) { self.voluntary = voluntary }
}
