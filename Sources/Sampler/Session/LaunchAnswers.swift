import ProcessIO
import ProfileModel
import Readiness

/// Answers to the conditions of `--until` about a session.
extension SessionContext: LaunchView {
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
