import Analysis
import Exports
import Glibc
import ProcessIO
package import ProfileModel
package import Recorder
import Report
import Sampler
import System

/// The line that shows a recording's progress.
///
/// The program's own output must stay readable. We cannot know when it will write next, so the line
/// is shown only if the program's output goes elsewhere, or if the user asks for it.
package struct RecordingLine: Sendable {
    private let line: LiveLine
    private let device: dev_t
    private let isForced: Bool

    /// - Parameters:
    ///   - line: if it cannot be seen, the result is nil.
    ///   - isForced: true to show the line even on the program's own terminal.
    init?(_ line: LiveLine, isForced: Bool) {
        guard line.isVisible, let device = OutputPlace.device(of: line.stream) else { return nil }
        self.line = line
        self.device = device
        self.isForced = isForced
    }

    func show(_ progress: RecordingProgress) {
        guard mayStand(beside: progress.pid) else { return line.wipe() }
        line.show(Self.text(progress, at: .now))
    }

    /// True if a running program's own output stays readable beside the line.
    func mayStand(beside pid: Int32) -> Bool {
        isForced || !OutputPlace.mayBe(device, of: pid)
    }

    /// "firstlight: Main, 1.24 s, 8 threads, 4,216 samples"
    package static func text(_ progress: RecordingProgress, at now: MonotonicTime) -> String {
        var parts = [phase(of: progress)]
        if let start = progress.start { parts.append(seconds(now - start)) }
        parts.append(Numbers.count(progress.threads, "thread"))
        parts.append(Numbers.count(Int(progress.samples), "sample"))
        return "firstlight: " + parts.joined(separator: ", ")
    }

    private static func phase(of progress: RecordingProgress) -> String {
        if progress.isReady { return Phase.Names.extended }
        return switch progress.border {
        case nil, .spawned: Phase.Names.creation
        case .firstInstruction: "running"
        // Without a dynamic linker, there is no phase of that name.
        case .watched: "before main"
        case .relocated: Phase.Names.initialisers
        case .main: Phase.Names.main
        case .attached: Phase.Names.attached
        case .ended, .held, .released: "the end"
        }
    }

    /// To a tenth, so that the line stays calm.
    private static func seconds(_ span: TimeSpan) -> String {
        let tenths = span.nanoseconds / 100_000_000
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

/// Where a process's output goes.
enum OutputPlace {
    /// The device number of the terminal at `descriptor`; nil: it is no character device.
    static func device(of descriptor: Int32) -> dev_t? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
            return nil
        }
        return status.st_rdev
    }

    /// True if the process's standard output or error may be this terminal, or if we cannot know.
    static func mayBe(_ terminal: dev_t, of pid: Int32) -> Bool {
        [STDOUT_FILENO, STDERR_FILENO].contains { number in
            var status = stat()
            guard stat("/proc/\(pid)/fd/\(number)", &status) == 0 else {
                // A closed stream leads nowhere. A process that we may not look at, or that has
                // closed its files because it ends, may have written to the terminal.
                return errno != ENOENT || access("/proc/\(pid)/fd", X_OK) != 0
                    || KernelProcess(pid: pid).isEnding
            }
            guard status.st_mode & S_IFMT == S_IFCHR else { return false }
            return [status.st_rdev, terminal].contains(own) || status.st_rdev == terminal
        }
    }

    /// `/dev/tty`, which is a different terminal for each process: major number 5, minor number 0.
    private static let own: dev_t = 5 << 8
}
