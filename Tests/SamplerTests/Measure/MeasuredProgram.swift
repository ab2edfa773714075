import Analysis
import CSystem
import Conditions
import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Launching
@testable import ProcessIO
@testable import Sampler

/// Launches programs as `firstlight measure` does. To be used in a process of its own: a process
/// that loses its parent becomes the test's child.
final class MeasuredProgram {
    private let measurer: LaunchMeasurer
    private let cleaner: Cleaner
    var options = LaunchOptions()

    init(_ command: [String]) throws {
        // Signals that a test's thread has blocked would be blocked in the program.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        // Theirs is not blocked either: a tick would end them.
        signal(fl_tick_signal(), SIG_IGN)
        // The process that watches signals for us has no parent, as before a measurement's first
        // launch.
        _ = fl_adopt_orphans(0)
        measurer = try LaunchMeasurer(
            command.map { CommandWord($0) }, signals: SignalQueue(launching: true))
        cleaner = try Cleaner(patience: .milliseconds(10_000))
        // Threads of the test's that do not block it take SIGCHLD away.
        measurer.lookInterval = .milliseconds(1)
    }

    func finish() throws -> FinishedLaunch { try measurer.launch(options) }

    /// A launch that leaves nothing behind; checks the properties of every launch.
    func launch() throws -> MeasuredLaunch {
        let finished = try finish()
        let rest = end()
        #expect(finished.program == nil && rest.isEmpty, "\(rest)")
        return Self.checked(finished.observed)
    }

    /// Ends the program, if it goes on, and the processes that it has left behind.
    ///
    /// - Returns: their ids.
    func end() -> [Int32] { cleaner.clean(endsDaemons: true).map(\.pid) }

    static func checked(_ observed: ObservedLaunch) -> MeasuredLaunch {
        let launch = MeasuredLaunch(observed, since: MonotonicTime(nanoseconds: 0))
        let all = Comment("\(launch)")
        #expect(launch.wall > .zero && launch.held >= .zero, all)
        #expect(launch.phases.reduce(.zero) { $0 + $1.wall } == launch.wall, all)
        for phase in launch.phases { #expect(phase.wall > .zero, all) }
        let parts = launch.phases.compactMap(\.cpu)
        if let cpu = launch.cpu, parts.count == launch.phases.count {
            #expect(parts.reduce(.zero, +) == cpu, all)
        }
        if let blocked = launch.mainBlocked { #expect(blocked <= launch.wall, all) }
        return launch
    }

    /// One of Tests/Fixtures.
    static func compile(_ source: String, in scratch: Scratch, _ flags: [String] = []) throws
        -> String
    {
        let folder = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let program = scratch.path("program")
        let compiler = try Child(
            ["gcc", "-std=gnu17", "-O2", "-D_GNU_SOURCE", "-pthread"] + flags + [
                "-o", program, "\(folder)/Tests/Fixtures/\(source)",
            ])
        try #require(compiler.end() == 0)
        return program
    }

    static let hasCompiler = access("/usr/bin/gcc", X_OK) == 0 || getenv("CI") != nil

    /// The fixtures' truth, by its names, in nanoseconds.
    static func truth(_ text: String) -> [Substring: Int64] {
        var result: [Substring: Int64] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { result[words[0]] = Int64(words[1]) }
        }
        return result
    }

    static func contents(of path: String) -> String {
        var buffer = ReadBuffer()
        buffer.readAll(path: path)
        return String(decoding: buffer.contents, as: UTF8.self)
    }
}
