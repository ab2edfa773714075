package import CSystem
import Glibc
package import ProcessIO

/// Everything that a child needs to become its program. It lives as long as the child needs it.
package final class ChildStart: @unchecked Sendable {
    private let start: OpaquePointer

    /// - Parameters:
    ///   - environment: words in the form of `environ`, with their zeros.
    ///   - memory: the descriptor that the program inherits under `number`; -1: none.
    package init(
        path: CommandWord, arguments: [CommandWord], environment: [[CChar]], streams: [Int32],
        signals: SignalQueue, memory: Int32, number: Int32
    ) throws(SamplerError) {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0.cString) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var mask = signals.originalMask
        var error: Int32 = 0
        let made = fl_make_start(
            path.cString, &words, &variables, streams, &mask, signals.ignoredSignals, memory,
            number, &error)
        guard let made else { throw .systemCall(SystemError(starting: "a process", code: error)) }
        start = made
    }

    deinit { fl_free_start(start) }

    /// - Parameters:
    ///   - entry: the settings that the child enters; nil: none.
    ///   - starter: the thread whose child it becomes; nil: the calling thread.
    /// - Returns: the child's id, or an error number below 0.
    package func spawn(
        _ entry: UnsafeMutablePointer<fl_child_setting>?, by starter: StarterThread?,
        _ release: inout Int32, _ failure: inout Int32
    ) -> Int32 {
        let shared = SharedEntry(pointer: entry)
        let isStarting = starter?.perform { fl_share_held(self.start, shared.pointer) } ?? false
        return isStarting
            ? fl_await_held(start, entry, &release, &failure)
            : fl_fork_held(start, entry, &release, &failure)
    }

    /// Sendable: the child has finished with the entry before we are notified of it.
    private struct SharedEntry: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<fl_child_setting>?
    }
}
