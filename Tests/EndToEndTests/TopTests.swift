import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `firstlight top` of real launches.
    @Suite struct Tops {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String], to name: String) throws {
            let finished = try Firstlight.recording(program, to: scratch(name)).run()
            #expect(finished.status == 0, "\(finished.error)")
        }

        private struct Time: Decodable {
            var sum: Int64?
            var mean: Int64?
            var margin: Int64?
        }
        private struct Thing: Decodable {
            var function: String?
            var name: String?
            var own: Bool
            var seen: Int
            var launches: Int
            var mainThread: Bool?
            var selfWallNs: Time?
            var totalWallNs: Time?
            var wallNs: Time?
        }
        private struct Version: Decodable {
            var buildId: String?
            var launches: Int
        }
        private struct Program: Decodable {
            var name: String
            var launches: Int
            var wallNs: Time
            var versions: [Version]
            var functions: [Thing]
            var waits: [Thing]
            var initializers: [Thing]
        }
        private struct Report: Decodable {
            var programs: [Program]
        }
        private struct Launch: Decodable {
            struct Times: Decodable {
                var wallNs: Int64
            }
            var launch: Times
        }

        private func decoded<Value: Decodable>(_ words: [String]) throws -> Value {
            let text = try Firstlight.command(words + ["--format", "json"]).run()
            #expect(text.status == 0 && text.error == "")
            return try JSONDecoder().decode(Value.self, from: Data(text.output.utf8))
        }

        /// The three reasons why the demonstration is slow, in each of its launches, and all time
        /// is accounted for.
        @Test func theThreeReasons() throws {
            let star = [try Setup.star("starsearcher")]
            let names = ["a.firstlight", "b.firstlight"]
            for name in names { try record(star, to: name) }
            try record([try Setup.star("starsearcher-mended")], to: "mended.firstlight")
            let report: Report = try decoded(["top", scratch.folder])
            #expect(report.programs.map(\.name) == ["starsearcher", "starsearcher-mended"])
            let program = try #require(report.programs.first)
            #expect(program.launches == 2 && program.versions.count == 1)
            #expect(program.versions.first?.buildId != nil)

            let walls = try names.map { name -> Int64 in
                let launch: Launch = try decoded(["report", scratch(name)])
                return launch.launch.wallNs
            }
            #expect(program.wallNs.sum == walls.reduce(0, +))
            let own = program.functions.reduce(0) { $0 + ($1.selfWallNs?.sum ?? 0) }
            #expect(own == program.wallNs.sum)

            func find(_ list: [Thing], _ name: String) throws -> Thing {
                try #require(list.first { $0.function?.hasPrefix(name) == true })
            }
            let logger = try find(program.initializers, "global constructors keyed to logger.cpp")
            let views = try find(program.functions, "FrameBuilder::prewarmDetailViews")
            let wait = try #require(program.waits.first { $0.mainThread == true })
            for thing in [logger, views, wait] {
                #expect(thing.own && thing.seen == 2 && thing.launches == 2)
                let time = thing.wallNs ?? thing.totalWallNs
                #expect(time?.margin != nil)
                #expect((time?.sum ?? 0) > (program.wallNs.sum ?? 0) / 50)
            }
            let single = try #require(report.programs.last)
            #expect(single.wallNs.margin == nil)
        }

        /// A function is marked as resolved, and comes back in a later launch.
        @Test func somethingComesBack() throws {
            let star = [try Setup.star("starsearcher-mended")]
            try record(star, to: "a.firstlight")
            let list = scratch("resolved.jsonl")
            let words = ["top", scratch.folder, "--resolved", list]
            let text = try Firstlight.command(words + ["--resolve", "Sky::drawMilkyWay"]).run()
            #expect(text.status == 0 && text.output.contains("not known yet"), "\(text.error)")
            #expect(text.error.hasPrefix("firstlight: resolved from now on: function Sky::"))
            // The file names the build, and launches of the same build are never newer.
            try record(star, to: "b.firstlight")
            let later = Date(timeIntervalSinceNow: 60)
            try FileManager.default.setAttributes(
                [.modificationDate: later], ofItemAtPath: scratch("b.firstlight"))
            let same = try Firstlight.command(words).run()
            #expect(same.status == 0 && !same.output.contains("Back again"), "\(same.output)")
            // The entry is changed to another build.
            let entry = try String(contentsOfFile: list, encoding: .utf8)
            let other = entry.replacing(#/"build":"[0-9a-f]+"/#, with: "\"build\":\"ffff\"")
            try other.write(toFile: list, atomically: true, encoding: .utf8)
            let back = try Firstlight.command(words).run()
            #expect(back.status == 0 && back.output.contains("Back again"), "\(back.output)")
            #expect(back.output.contains("1 of 1"))
        }

        /// A killed recorder's recording, a truncated one, and a file that is no recording.
        @Test func brokenOnesAmongThem() throws {
            try record(["/bin/true"], to: "a.firstlight")
            try record(["/bin/true"], to: "b.firstlight")
            let whole = try Data(contentsOf: URL(filePath: scratch("b.firstlight")))
            try whole.prefix(whole.count / 2)
                .write(to: URL(filePath: scratch("half.firstlight")))
            try Data("text\n".utf8).write(to: URL(filePath: scratch("text.firstlight")))
            try Data().write(to: URL(filePath: scratch("empty.firstlight")))
            let top = try Firstlight.command(["top", scratch.folder]).run()
            #expect(top.status == 1)
            #expect(top.output.hasPrefix("true · 2 launches · a launch takes "))
            let lines = top.error.split(separator: "\n")
            #expect(lines.count == 3)
            for name in ["half", "text", "empty"] {
                #expect(lines.contains { $0.contains("/\(name).firstlight: ") }, "\(lines)")
            }
        }
    }
}
