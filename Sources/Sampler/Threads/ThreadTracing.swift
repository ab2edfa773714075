import ProcessIO
import ProfileModel

/// The state of a thread's tracing: whether it is traced, and the stops that it was asked to make.
final class ThreadTracing {
    private let access: any ThreadAccess
    /// If so, every signal to the thread is a stop, and the threads that it clones are traced, too.
    private(set) var isTraced: Bool
    /// Whether ptrace reported that the user has stopped the thread. That ends calls.
    private(set) var isInGroupStop = false
    /// Whether the thread has stopped, and is soon waited for.
    private(set) var isHeld = false
    /// Whether the thread runs a piece of our code. Then the call in which it waits is ours, too.
    private(set) var isLed = false
    /// The last stop that the thread was asked to make in its own code.
    private(set) var interruption: (any Interruption)?
    /// How often the thread had had a core when it was stopped last.
    private(set) var coresAtStop: Int64?

    init(_ access: any ThreadAccess, isTraced: Bool) {
        self.access = access
        self.isTraced = isTraced
    }

    // MARK: Beginning and end

    /// - Returns: false: the thread cannot be traced.
    func seize(followingChildren: Bool = false) -> Bool {
        guard (try? access.seize(followingChildren: followingChildren)) != nil else { return false }
        isTraced = true
        return true
    }

    /// The kernel traces the thread, because it traces the thread's maker.
    func wasSeized() { isTraced = true }

    /// Asks the thread to stop, if it is traced: after an exec by another thread this is not known.
    func interruptIfTraced() { isTraced = (try? access.interrupt()) != nil }

    /// - Throws: the thread is gone, or not stopped.
    func detach() throws(SystemError) {
        try access.detach()
        isTraced = false
    }

    /// Detaches the thread; nothing more is done if it is gone.
    func letGo(delivering signal: Int32 = 0) {
        try? access.detach(delivering: signal)
        isTraced = false
    }

    // MARK: Stops

    /// - Throws: the thread cannot be found in its own code.
    func interruptInOwnCode(each period: TimeSpan) throws(NoInterruption) {
        interruption = try access.interruptInOwnCode(each: period)
    }

    func forgetInterruption() { interruption = nil }

    func noteGroupStop(_ isInGroupStop: Bool) { self.isInGroupStop = isInGroupStop }

    /// - Parameter cores: how often it has had a core; nil: it is gone.
    func noteStop(cores: Int64?) { coresAtStop = cores }

    func hold() { isHeld = true }

    /// - Returns: whether it was held until now.
    func endHold() -> Bool {
        defer { isHeld = false }
        return isHeld
    }

    func beginLead() { isLed = true }
    func endLead() { isLed = false }
}
