import Foundation
import Glibc

/// A running `firstlight watch`.
package final class Watcher {
    /// A launch that it has reported as stored.
    package struct Kept: Hashable {
        package var pid: Int32
        /// As in its file, in nanoseconds.
        package var start: Int64
        package var file: String

        /// nil: not such a line, or incomplete.
        package init?(_ line: some StringProtocol) {
            let words = line.split(separator: " ")
            guard words.first == "kept", let pid = words.firstIndex(of: "pid"),
                let start = words.firstIndex(of: "start"), let file = words.firstIndex(of: "in"),
                file + 1 < words.count, let number = Int32(words[pid + 1]),
                let time = Int64(words[start + 1])
            else { return nil }
            (self.pid, self.start, self.file) = (number, time, String(words[file + 1]))
        }
    }

    package let child: Child
    private let output: Channel
    private let error: Channel

    /// Starts it, and returns when it sees launches. If it cannot, the test is skipped.
    package init(_ names: [String], in folder: String, options: [String] = []) throws {
        output = try Channel()
        error = try Channel()
        var command = try Firstlight.command(["watch", "-o", folder] + options + names)
        command.output = output.writer
        command.error = error.writer
        child = try command.start()
        output.closeWriter()
        error.closeWriter()
        while let line = try error.line() {
            if line.hasPrefix("firstlight: watching ") { return }
            // A container has no process connector.
            if line.contains("cannot watch launches") { try Self.skip(line) }
        }
        throw Command.Failure(description: "it ended before it watched")
    }

    /// Not a call that never returns: in `init` the compiler warns of what would come after it.
    private static func skip(_ reason: String) throws { try Setup.skip(reason) }

    /// The next launch that it reports.
    package func next() throws -> Kept {
        guard let line = try output.line(), let kept = Kept(line) else {
            throw Command.Failure(description: "no launch was told")
        }
        return kept
    }

    /// Kills it, and returns the launches that it had also reported.
    package func kill() throws -> [Kept] {
        Glibc.kill(child.pid, SIGKILL)
        _ = try child.finish()
        // A truncated line is no report.
        let rest = try output.rest()
        let whole = rest.lastIndex(of: "\n").map { rest[..<$0] } ?? ""
        return whole.split(separator: "\n").compactMap { Kept($0) }
    }

    package func signal(_ number: Int32) { Glibc.kill(child.pid, number) }

    /// Ends it. Its status, and its last lines.
    package func end() throws -> (status: Int32?, error: String) {
        signal(SIGTERM)
        let finished = try child.finish()
        return (finished.status, try error.rest())
    }
}
