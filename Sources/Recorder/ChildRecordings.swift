import ProfileModel
import Recording
import Sampler
import Synchronization

/// The recordings of the processes that the recorded one starts, each in a file beside its own.
final class ChildRecordings: ChildObserver {
    private let output: String
    private let header: Recording.Header
    private let children = Mutex<[Child]>([])

    private struct Child {
        var parent: Int32
        var start: MonotonicTime
        var writer: RecordingThread
        var file: String
        var end: MonotonicTime?
        var outcome: SamplerOutcome?
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
            $0.append(Child(parent: parent, start: time, writer: writer, file: file))
        }
        return queue
    }

    func ended(_ pid: Int32, _ outcome: SamplerOutcome) {
        children.withLock { children in
            // The last of that number: ids are used again.
            guard
                let index = children.lastIndex(where: {
                    $0.outcome == nil && $0.file == Self.file(for: pid, output)
                })
            else { return }
            children[index].end = .now
            children[index].outcome = outcome
            children[index].writer.close()
        }
    }

    /// Completes all files. Those that could not be written are left out.
    func finish() -> [(process: ChildProcess, path: String, held: HeldFiles)] {
        children.withLock { $0 }.compactMap { child in
            guard let outcome = child.outcome else { return nil }
            child.writer.finish(outcome.notes, []) { $0.complete(with: outcome) }
            guard child.writer.hasFile, child.writer.failure == nil else { return nil }
            let process = ChildProcess(
                pid: child.writer.pid, parent: child.parent, name: child.writer.name,
                start: child.start, end: max(child.start, child.end ?? child.start),
                cpu: outcome.cpu, outcome: outcome.outcome, file: child.file)
            return (process, child.writer.path, child.writer.held)
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
