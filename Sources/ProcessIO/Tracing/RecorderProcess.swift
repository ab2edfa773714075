import CSystem
import Glibc
import ProfileModel
import System

/// Another recorder, which we ask to end its recording.
package struct RecorderProcess {
    private let pid: Int32

    package enum Failure: Error, Hashable, Sendable {
        case noSuchProcess(Int32)
        /// It is another program, which the signal could kill.
        case noRecorder(Int32)
        case notPermitted(Int32)
        case system(Int32, code: Int32)
    }

    package init(pid: Int32) { self.pid = pid }

    /// Asks it to end its recording; the program goes on. Returns after the request, without
    /// waiting for the end.
    package func stop() throws(Failure) {
        let process = fl_open_pid(pid)
        guard process >= 0 else { throw failure(-process) }
        defer { close(process) }
        // From here on, the descriptor means this process, even if its id is reused.
        guard isRecorder else {
            throw kill(pid, 0) != 0 && errno == EPERM ? .notPermitted(pid) : .noRecorder(pid)
        }
        let result = fl_signal_pid(process, fl_finish_signal())
        guard result == 0 else { throw failure(-result) }
    }

    private func failure(_ code: Int32) -> Failure {
        switch code {
        case ESRCH, EINVAL: .noSuchProcess(pid)
        case EPERM: .notPermitted(pid)
        default: .system(pid, code: code)
        }
    }

    /// True if its name and arguments are those of a `record` or an `attach`, and it waits for the
    /// signals that these wait for. Then none of these signals can kill it. Its helpers have other
    /// names.
    private var isRecorder: Bool {
        let files = ProcessFiles(pid: pid)
        guard let own = Self.name(ofProcess: "self"), Self.name(ofProcess: "\(pid)") == own,
            KernelThread(process: pid, tid: pid).name() == String(own.prefix(15)),
            ["record", "attach"].contains(files.image(at: .now).arguments.dropFirst().first),
            let status = KernelThread(process: pid, tid: pid).status()
        else { return false }
        return [fl_finish_signal(), SIGCHLD, fl_tick_signal()].allSatisfy(status.blocks)
    }

    /// The name of the process's executable; nil: it cannot be read.
    private static func name(ofProcess process: String) -> String? {
        let path = ProgramPath.target(ofLink: "/proc/\(process)/exe")
        let suffix = " (deleted)"
        let kept = path.hasSuffix(suffix) ? path.dropLast(suffix.count) : path[...]
        return kept.split(separator: "/").last.map(String.init)
    }
}
