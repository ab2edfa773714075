import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// Launches that are over before the program ends: the moment, and what happens to the program.
    @Suite(.needs("python3")) struct Ready {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// `record` of the fixture `ready`.
        private func command(
            until condition: String, _ how: [String], options: [String] = []
        ) throws -> Command {
            try Firstlight.recording(
                [try Setup.fixture("ready")] + how, to: scratch("recording"),
                options: ["--quiet", "--until", condition] + options,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
        }

        /// The fixture notes the time just before it becomes ready.
        @Test(
            arguments: [
                ("notify", ["notify"]), ("notify", ["notify", "other"]),
                ("notify", ["notify", "daemon"]),
                ("listen", ["tcp", "0"]),
                ("listen", ["tcp6", "0"]), ("listen", ["unix", "socket"]),
                ("listen", ["swap", "0"]),
                ("output:serving", ["output", "serving"]),
                ("output:serving", ["error", "serving"]),
                ("output", ["output", "serving"]), ("idle:100ms", ["idle"]),
            ])
        func theMomentIsRight(condition: String, how: [String]) throws {
            try Truth.of("ready \(condition): \(how.joined(separator: " "))") { figures in
                unlink(scratch("socket"))
                var command = try command(until: condition, how)
                command.directory = scratch.folder
                let result = try command.run()
                try #require(result.status == 0, "\(result)")
                let ready = try #require(try StoredReadiness(of: scratch("recording")))
                let truth = try #require(try scratch.truth()["ready_at"])
                // The fixture writes its first byte 50 ms before the moment that it notes.
                let isEarly = condition == "output"
                let latest: Int64 = isEarly ? -10_000_000 : 5_000_000
                let earliest: Int64 = isEarly ? -1_000_000_000 : -100_000
                let late = ready.nanoseconds - truth
                figures.check("late", late, isIn: earliest...latest)
            }
        }

        /// A script starts a server, and waits for it. If its children do not count, the launch is
        /// over only when the program ends.
        @Test(arguments: [("listen", "tcp 0"), ("listen", "unix socket")])
        func aChildMayBeReady(condition: String, how: String) throws {
            let script = """
                "$0" \(how) & child=$!; trap 'kill $child' TERM; wait; wait
                """
            try Truth.of("a ready child: \(how)") { figures in
                unlink(scratch("socket"))
                var command = try Firstlight.recording(
                    ["sh", "-c", script, try Setup.fixture("ready")], to: scratch("recording"),
                    options: ["--quiet", "--until", condition, "--follow-children"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
                command.directory = scratch.folder
                let result = try command.run()
                try #require(result.status == 0, "\(result)")
                let ready = try #require(try StoredReadiness(of: scratch("recording")))
                let truth = try #require(try scratch.truth()["ready_at"])
                let late = ready.nanoseconds - truth
                figures.check("late", late, isIn: -100_000...5_000_000)
            }
        }
    }
}
