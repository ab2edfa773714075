import ProfileModel

/// The stack that a thread uses, as far as it is known.
final class ThreadStack {
    /// Where the thread was last found on it.
    private(set) var pointer: UInt64?
    /// The stack itself, if it has a guard without a mapping of its own.
    private(set) var guarded: MappingWatch.Region?
    /// Whether the thread was found in a signal handler on a stack of its own. Only a stop can copy
    /// both stacks.
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

    /// Counts a request by signal. Checking whether the thread was ever near the stack's end takes
    /// time, so only some requests do so.
    ///
    /// - Returns: whether this request should check.
    func countRequest() -> Bool {
        requestsToRoom = requestsToRoom > 0 ? requestsToRoom - 1 : 15
        return requestsToRoom == 15
    }
}
