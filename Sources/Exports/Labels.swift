package import Analysis
import ProfileModel

/// The names of a program, its processes and its threads in titles, lanes and tables.
extension Profile {
    /// The program's name.
    package var title: String {
        program.title.isEmpty ? "process \(header.pid)" : program.title
    }

    /// "worker (12)"; with the process's name if there are several processes: "sh: worker (12)".
    package func label(ofThread index: Int) -> String {
        let label = threads[index].label
        guard processes.count > 1 else { return label }
        let process = processes[process(ofThread: index)].label
        return threads[index].name == process ? label : "\(process): \(label)"
    }

    /// True if it is its process's first thread.
    package func isLeader(_ thread: Int) -> Bool {
        leader(of: processes[process(ofThread: thread)]) == thread
    }
}

extension ProcessFigures {
    package var label: String { name.isEmpty ? "process \(pid)" : name }
}

extension ThreadFigures {
    /// "worker (12)"
    package var label: String { name.isEmpty ? "(\(tid))" : "\(name) (\(tid))" }
}
