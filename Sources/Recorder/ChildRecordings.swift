import ProfileModel
import Recording
import Sampler
import Synchronization

/// The recordings of the processes that the recorded one starts, each in a file beside its own.
final class ChildRecordings: ChildObserver {
    private let output: String
    private let header: Recording.Header
    private let children = Mutex(Children())

    /// A process that has its recording.
    typealias Finished = (process: ChildProcess, path: String, held: HeldFiles)

    private struct Children {
        /// Those that run, and those whose files are being completed.
        var open: [Child] = []
        /// In the order in which they were completed. All that is left of those: a program may start
        /// thousands.
        var finished: [Finished] = []

        /// Keeps of those that are complete what is told of them in the end.
        mutating func settle(waiting: Bool = false) {
            open.removeAll { child in
                guard let outcome = child.outcome, waiting || child.writer.isOver else {
                    return false
                }
                child.writer.join()
                if let process = child.process(outcome) {
                    finished.append((process, child.writer.path, child.writer.held))
                }
                return true
            }
        }
    }

    private struct Child {
        var parent: Int32
        var start: MonotonicTime
        var writer: RecordingThread
        var file: String
        var end: MonotonicTime?
        var outcome: SamplerOutcome?

        /// nil: its file could not be written.
        func process(_ outcome: SamplerOutcome) -> ChildProcess? {
            guard writer.hasFile, writer.failure == nil else { return nil }
            return ChildProcess(
                pid: writer.pid, parent: parent, name: writer.name, start: start,
                end: max(start, end ?? start), cpu: outcome.cpu, outcome: outcome.outcome,
                file: file)
        }
    }

    /// - Parameters:
    ///   - output: the main recording's path.
    ///   - header: what its header begins as.
    init(output: String, header: Recording.Header) {
        self.output = output
        self.header = header
    }

    func began(_ pid: Int32, parent: Int32, at time: MonotonicTime) -> (any SampleSink)? {
        var header = header
        header.isAttached = false
        header.capture = .ptrace
        let queue = EventQueue()
        let path = Self.path(for: pid, beside: output)
        let writer = RecordingThread(path: path, header: header, queue: queue)
        guard writer.start() else { return nil }
        let file = path.split(separator: "/").last.map(String.init) ?? path
        children.withLock {
            $0.settle()
            $0.open.append(Child(parent: parent, start: time, writer: writer, file: file))
        }
        return queue
    }

    func ended(_ pid: Int32, _ outcome: SamplerOutcome) {
        children.withLock { children in
            // The last of that number: ids are used again.
            guard
                let index = children.open.lastIndex(where: {
                    $0.outcome == nil && $0.file == Self.file(for: pid, output)
                })
            else { return }
            children.open[index].end = .now
            children.open[index].outcome = outcome
            children.open[index].writer.finishAlone(outcome.notes) { $0.complete(with: outcome) }
            children.settle()
        }
    }

    /// Waits until all files are complete. Those that could not be written are left out.
    func finish() -> [Finished] {
        children.withLock {
            $0.settle(waiting: true)
            return $0.finished.sorted { $0.process.start < $1.process.start }
        }
    }

    /// `launch.firstlight` has its children in `launch.PID.firstlight`.
    static func path(for pid: Int32, beside output: String) -> String {
        let folder = output.lastIndex(of: "/").map { output[...$0] } ?? ""
        let name = output[folder.endIndex...]
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return "\(output).\(pid)"
        }
        return "\(folder)\(name[..<dot]).\(pid)\(name[dot...])"
    }

    private static func file(for pid: Int32, _ output: String) -> String {
        let path = path(for: pid, beside: output)
        return path.split(separator: "/").last.map(String.init) ?? path
    }
}
