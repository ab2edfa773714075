import ProfileModel

/// What a condition of `--until` may ask about the process. The session that follows the launch
/// answers.
protocol LaunchView: AnyObject {
    var now: MonotonicTime { get }
    /// Identifies the waits that all threads are in: it changes as soon as any thread has had a
    /// core. nil: not all are blocked.
    var blockedSignature: UInt64? { get }
    /// True if a thread waits for storage or for a page fault.
    var waitsForDisk: Bool { get }
    /// Notes something that a condition could not see.
    func note(_ kind: RecorderNote.Kind)
}

extension TraceSession: LaunchView {
    var now: MonotonicTime { process.now }

    var blockedSignature: UInt64? {
        IdleSource.signature(
            of: threads.values.lazy.filter { $0.phase != .exited }
                .map { ($0.tid, $0.blocked?.serial) })
    }

    var waitsForDisk: Bool { threads.values.contains { $0.waitsForDisk } }
}

extension TracedThread {
    /// True if the thread sleeps uninterruptibly (state D of `stat`).
    fileprivate var waitsForDisk: Bool { phase != .exited && state == UInt8(ascii: "D") }
}
