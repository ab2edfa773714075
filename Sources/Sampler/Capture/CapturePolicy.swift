/// A way to take the stack of a thread that runs.
enum CaptureWay: UInt8, CaseIterable {
    /// Its timer's signal, which finds it in its own code only.
    case timer
    /// The kernel's events, which change nothing of it.
    case events
    /// A request by signal: our handler in the program copies the stack.
    case signal
    /// A stop, by ptrace.
    case stop
    /// Not at this look: counted, and shown as `[not sampled]`.
    case spare
}

/// The ways that were tried at a look, and failed. (A `Set` would allocate memory at each look.)
struct FailedWays: Hashable {
    private var bits: UInt8 = 0

    func contains(_ way: CaptureWay) -> Bool { bits >> way.rawValue & 1 == 1 }
    mutating func insert(_ way: CaptureWay) { bits |= 1 << way.rawValue }
}

/// Facts about a running thread whose stack is to be taken. Each is read only on demand, because
/// most looks need few of them.
protocol CaptureFacts {
    /// Whether the events of its process's tree take its stacks anyway.
    var isSampledByTree: Bool { get }
    /// Whether it runs an interpreter, and threads of its process may have timers.
    var wantsTimer: Bool { get }
    /// Whether a stop is needed for another reason: our code is on its way into the program, or out, or the thread
    /// is traced for nothing.
    var needsStop: Bool { get }
    /// The approach that its waits allow: a wait that it has just begun must not be ended.
    var approach: BurstPolicy.Approach { get }
    /// Whether a read by its process may take unlimited time in the kernel (`/dev/zero`).
    var mayReadForever: Bool { get }
    /// Whether a signal or a stop may meet a call that then returns less than the program asked
    /// for.
    var mayMeetLongCall: Bool { get }
    /// Whether a handler of the program's may hold our signal back until it returns.
    var handlersBlock: Bool { get }
    /// Whether it was seen in its own code for a while.
    var isComputing: Bool { get }
    /// Whether our handler is in the program.
    var hasHandler: Bool { get }
    /// Whether it is known which signals it blocks, or none of its process's threads blocks ours.
    var isMaskKnown: Bool { get }
    /// Whether the signal would be blocked, forbidden by a filter, taken by the program, or without room.
    var refusesSignal: Bool { get }
    /// Whether a stop of it could end other threads' waits (``RecentForks``).
    var mayHarmOthers: Bool { get }
}

/// Decides how a running thread's stack is taken: in the way that harms it least.
/// `docs/design/Sampler/Signal.md` says what each rule prevents (*What must not happen*).
enum CapturePolicy {
    /// - Parameter failed: the ways that have failed at this look.
    /// - Returns: what to try next; nil: nothing is needed.
    static func decide(_ facts: some CaptureFacts, without failed: FailedWays = FailedWays())
        -> CaptureChoice?
    {
        if facts.isSampledByTree, !facts.wantsTimer { return nil }
        if facts.needsStop { return byStop(facts, without: failed) }
        if !failed.contains(.timer) { return CaptureChoice(.timer) }
        if facts.isSampledByTree { return nil }
        // An event puts no frame on the stack, and ends no call early. A signal or a stop may do both,
        // because the thread may have gone anywhere when one of them comes.
        if !failed.contains(.events) { return CaptureChoice(.events) }
        if facts.mayMeetLongCall { return CaptureChoice(.spare) }
        // A call that a stop ends is restarted. A signal that a handler held back may end a call
        // for good.
        if facts.handlersBlock, !facts.isComputing { return byStop(facts, without: failed) }
        if facts.approach == .spare { return CaptureChoice(.spare) }
        guard facts.approach == .signal, facts.hasHandler else { return CaptureChoice(stop(facts)) }
        guard facts.isMaskKnown else { return CaptureChoice(.spare) }
        return failed.contains(.signal) || facts.refusesSignal
            ? CaptureChoice(stop(facts), isDetour: true) : CaptureChoice(.signal)
    }

    /// By a stop whenever that does no harm.
    private static func byStop(_ facts: some CaptureFacts, without failed: FailedWays)
        -> CaptureChoice
    {
        if facts.approach != .spare, !facts.mayReadForever { return CaptureChoice(stop(facts)) }
        return CaptureChoice(failed.contains(.events) ? .spare : .events)
    }

    private static func stop(_ facts: some CaptureFacts) -> CaptureWay {
        facts.mayHarmOthers ? .spare : .stop
    }
}

/// How a look takes a thread's stack.
struct CaptureChoice: Hashable {
    var way: CaptureWay
    /// Whether a request by signal would be the way, but something about the signal itself prevents
    /// it.
    var isDetour = false

    init(_ way: CaptureWay, isDetour: Bool = false) { (self.way, self.isDetour) = (way, isDetour) }
}
