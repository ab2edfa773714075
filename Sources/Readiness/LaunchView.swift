package import ProfileModel

/// The questions that a condition of `--until` may ask about the process. The session that follows
/// the launch answers.
package protocol LaunchView: AnyObject {
    var now: MonotonicTime { get }
    /// Identifies the waits that all threads are in: it changes as soon as any thread has had a
    /// core. nil: not all are blocked.
    var blockedSignature: UInt64? { get }
    /// True if a thread waits for storage or for a page fault.
    var waitsForDisk: Bool { get }
    /// Notes something that a condition could not see.
    func note(_ kind: RecorderNote.Kind)
}
