import Foundation
package import Glibc

/// The fixture to attach to: its threads compute and wait until told to end.
package final class Sleeper {
    /// How it ended.
    package struct End: Hashable {
        package var status: Int32?
        package var checksum: Substring?
        /// The lines that count calls that ended with EINTR although they never should.
        package var interruptions: [Substring]
    }

    package let child: Child
    private let input: Channel
    private let output: Channel

    package var pid: pid_t { child.pid }

    package convenience init() throws { try self.init([try Setup.fixture("sleeper")]) }

    /// Returns when all its threads are running.
    package init(_ words: [String]) throws {
        input = try Channel()
        output = try Channel()
        var command = Command(words)
        command.input = .descriptor(input.reader)
        command.output = output.writer
        child = try command.start()
        input.closeReader()
        output.closeWriter()
        guard try output.line() == "ready" else {
            throw Command.Failure(description: "the sleeper is not ready")
        }
    }

    /// Tells it to end.
    package func end() throws -> End {
        input.closeWriter()
        let lines = try output.rest().split(separator: "\n")
        return End(
            status: try child.finish().status, checksum: lines.first { $0.hasPrefix("checksum") },
            interruptions: lines.filter { $0.hasPrefix("EINTR") })
    }

    /// Stops it, as Ctrl-Z does.
    package func stop() throws {
        kill(pid, SIGSTOP)
        try Proc.waitUntil("stopping") { Proc.state(pid) == "T" }
    }

    /// How long its two workers take to pass their token back and forth 200 times.
    package func millisecondsOfPassing() throws -> Int {
        func switches() -> Int? {
            Proc.tasks(pid).dropFirst().first.flatMap {
                Proc.status(pid, "voluntary_ctxt_switches", task: $0)
            }.flatMap { Int($0) }
        }
        guard let first = switches() else {
            throw Command.Failure(description: "the sleeper's threads cannot be looked at")
        }
        let start = Date()
        return try Proc.waitFor("200 rounds") {
            guard let now = switches(), now >= first + 200 else { return nil }
            return Int(Date().timeIntervalSince(start) * 1000)
        }
    }
}

/// How a process treats signals, as hexadecimal masks.
package struct Dispositions: Hashable {
    package var blocked: String?
    package var ignored: String?
    package var caught: String?

    package init(of pid: pid_t) {
        blocked = Proc.status(pid, "SigBlk")
        ignored = Proc.status(pid, "SigIgn")
        caught = Proc.status(pid, "SigCgt")
    }
}
