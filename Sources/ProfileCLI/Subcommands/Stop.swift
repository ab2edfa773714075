import Glibc
import ProcessIO
import Sampler

/// `firstlight stop`.
enum StopCommand {
    /// Asks a recorder to end its recording, and returns the exit status.
    static func run(_ options: StopOptions, _ console: Console) -> Int32 {
        do throws(RecorderProcess.Failure) {
            try RecorderProcess(pid: options.pid).stop()
            return 0
        } catch {
            console.complain(text(error))
            return 1
        }
    }

    private static func text(_ failure: RecorderProcess.Failure) -> String {
        switch failure {
        case .noSuchProcess(let pid): "there is no process \(pid)"
        case .noRecorder(let pid):
            "process \(pid) makes no recording: name the firstlight that does, not the program "
                + "(pgrep -x firstlight)"
        case .notPermitted(let pid):
            "process \(pid) is another user's: ask as that user, or as root"
        case .system(let pid, let code):
            "process \(pid) cannot be asked: \(String(cString: strerror(code)))"
        }
    }
}

/// The options of `stop`.
package struct StopOptions: Sendable {
    /// The recorder's process id.
    package var pid: Int32

    package init(_ arguments: ParsedArguments) throws(UsageError) {
        let word = arguments.operands.first ?? ""
        guard word.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let pid = Int32(word), pid > 0 else {
            throw UsageError(.stop, "invalid process id '\(word)': it must be a whole number")
        }
        self.pid = pid
    }
}
