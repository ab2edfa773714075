import Foundation
import Glibc

/// The fixture to attach to: its threads compute and wait until told to end.
final class Sleeper {
    /// How it ended.
    struct End: Hashable {
        var status: Int32?
        var checksum: Substring?
        /// The lines that count calls that ended with EINTR although they never should.
        var interruptions: [Substring]
    }

    let child: Child
    private let input: Channel
    private let output: Channel

    var pid: pid_t { child.pid }

    convenience init() throws { try self.init([try Setup.fixture("sleeper")]) }

    /// Returns when all its threads are running.
    init(_ words: [String]) throws {
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
    func end() throws -> End {
        input.closeWriter()
        let lines = try output.rest().split(separator: "\n")
        return End(
            status: try child.finish().status, checksum: lines.first { $0.hasPrefix("checksum") },
            interruptions: lines.filter { $0.hasPrefix("EINTR") })
    }

    /// Stops it, as Ctrl-Z does.
    func stop() throws {
        kill(pid, SIGSTOP)
        try Proc.waitUntil("stopping") { Proc.state(pid) == "T" }
    }

    /// How long its two workers take to pass their token back and forth 200 times.
    func millisecondsOfPassing() throws -> Int {
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
struct Dispositions: Hashable {
    var blocked: String?
    var ignored: String?
    var caught: String?

    init(of pid: pid_t) {
        blocked = Proc.status(pid, "SigBlk")
        ignored = Proc.status(pid, "SigIgn")
        caught = Proc.status(pid, "SigCgt")
    }
}
