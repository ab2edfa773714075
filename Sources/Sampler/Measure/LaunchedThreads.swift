import ProfileModel
import System

/// The threads of a process that nobody samples, looked at only when somebody asks.
final class LaunchedThreads: LaunchView {
    private let files: ProcessFiles
    private var threads: [Int32: KernelThread] = [:]

    init(pid: Int32) { files = ProcessFiles(pid: pid) }

    var now: MonotonicTime { .now }

    var blockedSignature: UInt64? {
        let tids = Set(files.threadIDs())
        threads = threads.filter { tids.contains($0.key) }
        return IdleSource.signature(of: tids.sorted().map { ($0, stretch(of: $0)) })
    }

    var waitsForDisk: Bool { threads.values.contains { $0.state() == UInt8(ascii: "D") } }

    /// A launch that was not seen to be ready counts as one that was not: that is said enough.
    func note(_ kind: RecorderNote.Kind) {}

    /// Tells one stretch of being blocked from the next; nil: it is not blocked.
    private func stretch(of tid: Int32) -> UInt32? {
        let thread = threads[tid] ?? KernelThread(process: files.pid, tid: tid)
        threads[tid] = thread
        guard let before = thread.counters()?.slices, case .blocked? = thread.activity(),
            // What belongs together was read together.
            thread.counters()?.slices == before
        else { return nil }
        return UInt32(truncatingIfNeeded: before)
    }
}
