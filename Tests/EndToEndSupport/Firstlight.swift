import Foundation
import TestSupport
import Testing

/// The program under test.
package enum Firstlight {
    package static func command(_ words: [String], adding variables: [String: String] = [:]) throws
        -> Command
    {
        Command([try Setup.path(.firstlight)] + words, adding: variables)
    }

    package static func run(_ words: String...) throws -> Finished { try command(words).run() }

    /// `record`, with the recording at `output`.
    package static func recording(
        _ program: [String], to output: String, options: [String] = ["--quiet"],
        adding variables: [String: String] = [:]
    ) throws -> Command {
        try command(["record", "-o", output] + options + ["--"] + program, adding: variables)
    }

    /// Runs `record` to its end, and expects success and the program's status 0.
    package static func record(
        _ program: [String], in scratch: Scratch, options: [String] = ["--quiet"],
        adding variables: [String: String] = [:]
    ) throws -> Recorded {
        let path = scratch("recording")
        let finished = try recording(program, to: path, options: options, adding: variables).run()
        #expect(finished.status == 0, "\(finished.error)")
        return Recorded(path: path, finished: finished)
    }
}

/// A recording, and its reports.
package struct Recorded {
    package var path: String
    /// How `record` ended.
    package var finished: Finished

    package init(path: String, finished: Finished) {
        self.path = path
        self.finished = finished
    }

    /// What a subcommand prints about it; it must succeed without complaints.
    package func text(
        _ subcommand: String, _ options: [String] = [], columns: Int = 100
    ) throws -> String {
        let command = try Firstlight.command(
            [subcommand, path] + options, adding: ["COLUMNS": String(columns)])
        let result = try command.run()
        #expect(result.status == 0)
        #expect(result.error == "")
        return result.output
    }

    package func json(_ options: [String] = []) throws -> LaunchReport {
        let text = try text("report", ["--format", "json", "--with", "events,timeline"] + options)
        return try JSONDecoder().decode(LaunchReport.self, from: Data(text.utf8))
    }

    package func folded(_ options: String...) throws -> Folded {
        try Folded(parsing: try text("fold", options))
    }
}
