import Glibc
import Synchronization
import System

/// Closes descriptors of tracepoints without waiting. The kernel closes one only when no core can
/// be inside it any more (we have seen 50 ms). That would delay the summary of a launch.
package enum LateClosing {
    private struct State {
        var pending: [Int32] = []
        var isRunning = false
    }

    private static let state = Mutex(State())

    /// Takes over the descriptors.
    package static func close(_ descriptors: [Int32]) {
        guard !descriptors.isEmpty else { return }
        let isRunning = state.withLock { state in
            state.pending += descriptors
            defer { state.isRunning = true }
            return state.isRunning
        }
        // One thread, however many cores have tracepoints. If it cannot be started, close here.
        if !isRunning, !startThread({ closeAll() }) { closeAll() }
    }

    private static func closeAll() {
        while let descriptor = next() { _ = Glibc.close(descriptor) }
    }

    private static func next() -> Int32? {
        state.withLock { state in
            let descriptor = state.pending.popLast()
            if descriptor == nil { state.isRunning = false }
            return descriptor
        }
    }
}
