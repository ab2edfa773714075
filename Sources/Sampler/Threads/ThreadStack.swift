import ProfileModel

/// What is known of the stack that a thread uses.
final class ThreadStack {
    /// Where the thread was seen on it last.
    private(set) var pointer: UInt64?
    /// The stack itself, if it has a guard without a mapping of its own.
    private(set) var guarded: MappingWatch.Region?
    /// Whether the thread was seen in a signal handler on a stack of its own. Only a stop can copy both
    /// stacks.
    private(set) var hasAlternate = false
    /// Whether there may be no room for a signal: the thread was once near its end.
    private(set) var lacksRoom = false
    private var requestsToRoom = 0

    func saw(_ pointer: UInt64) { self.pointer = pointer }
    func sawAlternate() { hasAlternate = true }
    func sawGuard(_ region: MappingWatch.Region) { guarded = region }
    func sawEnd() { lacksRoom = true }

    /// Another program has taken the place of the thread's.
    func forgetPointer() { pointer = nil }

    /// Counts a request by signal. The question whether the thread was ever near the stack's end is not
    /// free, so only some requests ask it.
    ///
    /// - Returns: whether this request should ask.
    func countRequest() -> Bool {
        requestsToRoom = requestsToRoom > 0 ? requestsToRoom - 1 : 15
        return requestsToRoom == 15
    }
}
