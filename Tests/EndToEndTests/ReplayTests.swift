import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A stored recording always gives the same reports.
    @Suite struct Replay {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static var readings: [[String]] {
            var readings = [["report", "--format", "json"]]
            for view in ["full", "notes", "heaviest", "tree", "bottom-up", "threads", "modules"] {
                readings.append(["report", "--view", view])
            }
            for weight in ["cpu", "wall", "blocked", "runnable"] {
                readings.append(["report", "--view", "tree", "--weight", weight])
                readings.append(["report", "--view", "bottom-up", "--weight", weight])
                readings.append(["fold", "--weight", weight])
            }
            return readings
        }

        private func readings(of path: String) throws -> [String] {
            try Self.readings.map { words in
                let result = try Firstlight.command(words + [path]).run()
                #expect(result.status == 0, "\(words): \(result.error)")
                // Perhaps no thread was blocked.
                #expect(!result.output.isEmpty || words[0] == "fold", "\(words)")
                return result.output
            }
        }

        @Test func reportsAreIdenticalByteForByte() throws {
            let recorded = try Firstlight.record([try Setup.fixture("static")], in: scratch)
            let first = try readings(of: recorded.path)
            #expect(try readings(of: recorded.path) == first)
        }

        /// As on another machine: the program is gone, and the recording was moved.
        @Test func theProgramIsNotNeeded() throws {
            let program = scratch("program")
            try Scratch.copyItem(
                atPath: try Setup.fixture("groundtruth"), toPath: program)
            let recorded = try Firstlight.record([program], in: scratch)
            let first = try readings(of: recorded.path)
            try FileManager.default.removeItem(atPath: program)
            let copy = scratch("copy")
            try FileManager.default.moveItem(atPath: recorded.path, toPath: copy)
            #expect(try readings(of: copy) == first)
            #expect(first.contains { $0.contains("burn_alpha") })
        }

        @Test func readingChangesNothing() throws {
            let recorded = try Firstlight.record([try Setup.fixture("static")], in: scratch)
            let before = FileManager.default.contents(atPath: recorded.path)
            chmod(recorded.path, 0o400)
            _ = try readings(of: recorded.path)
            #expect(FileManager.default.contents(atPath: recorded.path) == before)
            #expect(scratch.names == ["recording"])
        }
    }
}
