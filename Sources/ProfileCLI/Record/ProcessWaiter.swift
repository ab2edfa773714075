import Launching
import ProcessIO
import Recording
import Sampler

/// The first part of `firstlight attach --wait`: it waits until there is a process to attach to.
enum ProcessWaiter {
    enum End {
        case found(Int32)
        /// There will be no recording; the exit status.
        case ended(Int32)
    }

    /// Waits, and tells the user.
    static func run(
        _ name: ProgramName, _ options: RecordOptions, _ signals: SignalQueue, _ console: Console
    ) -> End {
        do throws(SamplerError) {
            try Sampler.reserve()
        } catch {
            console.complain(error.description)
            return .ended(error.exitStatus)
        }
        do throws(RecordingError) {
            // Fail now rather than wait for a recording that could not be stored.
            try RecordingFile.checkWritable(options.output)
        } catch {
            console.complain(error.description)
            return .ended(OwnStatus.failure)
        }
        do throws(SamplerError) {
            var wait = ProcessWait(for: name)
            let running = try wait.running()
            if !running.isEmpty { console.complain(notice(running, of: name)) }
            console.complain("waiting for '\(name)' to start (Ctrl-C ends)")
            switch try wait.wait(signals) {
            case .found(let pid): return .found(pid)
            case .signal(let number): return .ended(128 + number)
            }
        } catch {
            console.complain(error.description)
            return .ended(error.exitStatus)
        }
    }

    private static func notice(_ running: [Int32], of name: ProgramName) -> String {
        let first = running.min() ?? 0
        let others = running.count > 1 ? " and \(running.count - 1) more" : ""
        return "'\(name)' is already running (process \(first)\(others)), and is not recorded; to "
            + "record it: firstlight attach \(first)"
    }
}
