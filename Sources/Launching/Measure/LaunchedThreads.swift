import ProcessIO
package import ProfileModel
import Readiness
import System

/// The threads of a process that is not sampled; looked at only on request.
package final class LaunchedThreads: LaunchView {
    private let files: ProcessFiles
    private var threads: [Int32: KernelThread] = [:]

    package init(pid: Int32) { files = ProcessFiles(pid: pid) }

    package var now: MonotonicTime { .now }

    package var blockedSignature: UInt64? {
        let tids = Set(files.threadIDs())
        threads = threads.filter { tids.contains($0.key) }
        return IdleSource.signature(of: tids.sorted().map { ($0, stretch(of: $0)) })
    }

    package var waitsForDisk: Bool { threads.values.contains { $0.state() == UInt8(ascii: "D") } }

    /// Not needed: a launch that we have not seen become ready counts as not ready.
    package func note(_ kind: RecorderNote.Kind) {}

    /// Identifies a thread's present wait; nil: the thread is not blocked.
    private func stretch(of tid: Int32) -> UInt32? {
        let thread = threads[tid] ?? KernelThread(process: files.pid, tid: tid)
        threads[tid] = thread
        guard let before = thread.counters()?.timeslices, case .blocked? = thread.activity(),
            // The same count again: so no slice lay between the two readings.
            thread.counters()?.timeslices == before
        else { return nil }
        return UInt32(truncatingIfNeeded: before)
    }
}
