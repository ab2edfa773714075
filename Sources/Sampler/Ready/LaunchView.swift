import ProfileModel

/// What a condition of `--until` may want to know of the process, from whoever follows its launch.
protocol LaunchView: AnyObject {
    var now: MonotonicTime { get }
    /// Of the stretches of being blocked that all threads are in: another one as soon as any thread
    /// has had a core. nil: not all are blocked.
    var blockedSignature: UInt64? { get }
    /// Whether a thread waits for storage, or a page fault.
    var waitsForDisk: Bool { get }
    /// What a condition could not see.
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
    /// Whether it sleeps uninterruptibly (state D of `stat`).
    fileprivate var waitsForDisk: Bool { phase != .exited && state == UInt8(ascii: "D") }
}
