import Analysis
import Exports
import Foundation
import MadeRecordings
import ProfileModel
import Report
import Testing

/// Many recordings, as text and JSON.
@Suite struct TopReportTests {
    private func text(_ change: (inout TextOptions) -> Void = { _ in }) throws -> String {
        var options = TextOptions()
        change(&options)
        return TopReport.text(
            try MadeTop.summary(resolved: MadeTop.resolved), options: options)
    }

    @Test func snapshots() throws {
        try expectSnapshot(TopReport.text(try MadeTop.summary()), "top.txt")
        try expectSnapshot(text(), "top-resolved.txt")
        try expectSnapshot(text { $0.width = 160 }, "top-160.txt")
        try expectSnapshot(text { $0.width = 60 }, "top-60.txt")
        try expectSnapshot(text { $0.usesColour = true }, "top-colour.txt")
    }

    @Test(arguments: [60, 72, 80, 100, 130, 200]) func widths(width: Int) throws {
        for line in try text({ $0.width = width }).split(separator: "\n") {
            #expect(String(line).displayWidth <= width, "\(line)")
        }
    }

    @Test func returnedFunctionsComeFirst() throws {
        let report = try text()
        let back = try #require(report.range(of: "Back again")?.lowerBound)
        let functions = try #require(report.range(of: "Functions by")?.lowerBound)
        #expect(back < functions)
        // Resolved things are not in the other lists.
        let initializers = try #require(report.range(of: "Initialisers")?.lowerBound)
        let lists = report[functions..<initializers]
        #expect(lists.contains("buildFirstFrame") && !lists.contains("warmUp"))
    }

    @Test func oneLaunchIsNotSure() throws {
        var sums = TopSums()
        sums.add(Profile(StarSearcher.recording()), TopLaunch(path: "a", date: MadeTop.day))
        let report = TopReport.text(try TopSummary(sums))
        #expect(report.hasPrefix("StarSearcher · 1 launch · a launch takes 2.512 s\n"))
        let words = report.split { " \n".contains($0) }.joined(separator: " ")
        #expect(words.hasSuffix("; ? is unknown, because there is only one launch."))
        // A single version needs no column.
        #expect(!report.contains("BUILD ID"))
    }

    @Test func depth() throws {
        let lines = try text { $0.depth = 1 }.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("Functions by") })
        #expect(lines[place + 1].contains("● ") || lines[place + 1].contains("["))
        #expect(lines[place + 2].contains("Own code"))
    }

    // MARK: JSON

    private struct Time: Decodable {
        var sum: Int64?
        var mean: Int64?
        var margin: Int64?
    }
    private struct Figures: Decodable {
        var version: Int?
        var launches: Int
        var seen: Int
        var selfWallNs: Time?
        var wallNs: Time?
    }
    private struct Thing: Decodable {
        var function: String?
        var name: String?
        var resolved: String?
        var launches: Int
        var seen: Int
        var selfWallNs: Time?
        var wallNs: Time?
        var byVersion: [Figures]
    }
    private struct State: Decodable {
        var name: String
        var status: String
        var older: Figures
        var newer: Figures
    }
    private struct Program: Decodable {
        var name: String
        var launches: Int
        var wallNs: Time
        var functions: [Thing]
        var waits: [Thing]
        var initializers: [Thing]
        var libraries: [Thing]
        var processes: [Thing]
        var resolved: [State]
    }
    private struct Left: Decodable {
        var path: String
        var reason: String
    }
    private struct Document: Decodable {
        var schema: Int
        var kind: String
        var phase: String?
        var programs: [Program]
        var leftOut: [Left]
    }

    /// Of recordings with their children.
    @Test func processesOfTheTree() throws {
        var sums = TopSums()
        for launch in 0..<2 as Range<Int64> {
            let profile = MadeTop.profile(build: 0xa1) { recording in
                let start = recording.slices[0].start
                for number in 0..<3 as Range<Int64> {
                    recording.children.append(
                        ChildProcess(
                            pid: Int32(500 + number), parent: recording.header.pid,
                            name: number == 0 ? "g\u{1B}it" : "readlink",
                            start: start + .milliseconds(number),
                            end: start + .milliseconds(20 * number + 10 + launch),
                            outcome: .exited(0)))
                }
            }
            sums.add(profile, TopLaunch(path: "/recordings/\(launch)", date: launch))
        }
        let summary = try TopSummary(sums)
        var options = TextOptions()
        options.width = 110
        let text = TopReport.text(summary, options: options)
        let lines = text.split(separator: "\n").map(String.init)
        let title = try #require(lines.firstIndex { $0.contains("Processes that it started") })
        #expect(lines[title].contains("CPU") && lines[title].contains("processes"))
        // 29 and 48 ms, and half a millisecond more in each on the mean.
        #expect(lines[title + 1].contains("readlink") && lines[title + 1].contains("78.0 ms"))
        #expect(lines[title + 1].contains(" 2 "))
        #expect(lines[title + 2].contains("it ") && !text.contains("\u{1B}"))
        let json = TopReport.json(summary, leftOut: [])
        let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        let processes = try #require(document.programs.first?.processes)
        #expect(processes.map(\.name) == ["readlink", "g\u{1B}it"])
        #expect(processes.first?.wallNs?.sum == 156_000_000)
    }

    @Test func jsonAddsUp() throws {
        let json = TopReport.json(
            try MadeTop.summary(resolved: MadeTop.resolved), leftOut: [("x\"y", "is damaged")])
        #expect(json.hasSuffix("}\n"))
        let document = try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        #expect(document.schema == 1 && document.kind == "top" && document.phase == nil)
        #expect(document.leftOut.map(\.path) == ["x\"y"])
        let program = try #require(document.programs.first)
        #expect(program.launches == 5 && document.programs.count == 1)
        let own = program.functions.reduce(0) { $0 + ($1.selfWallNs?.sum ?? 0) }
        #expect(own == program.wallNs.sum)
        for thing in program.functions {
            let versions = thing.byVersion.reduce(0) { $0 + ($1.selfWallNs?.sum ?? 0) }
            #expect(versions == thing.selfWallNs?.sum)
            #expect(thing.byVersion.reduce(0) { $0 + $1.seen } == thing.seen)
        }
        #expect(program.initializers.first?.function == "SuperfastLogger::warmUp()")
        #expect(program.initializers.first?.seen == 3)
        #expect(!program.waits.isEmpty)
        // At start-up, what a library took is not known.
        #expect(program.libraries.contains { $0.name == "libm.so.6" && $0.wallNs?.mean == nil })
        #expect(
            program.resolved.map { "\($0.name) \($0.status)" } == [
                "StarSearcher::buildFirstFrame() back", "SuperfastLogger::warmUp() small",
                "libthemes.so untested",
            ])
        #expect(json.contains("\"name\":\"forgotten\""))
    }

    // MARK: Hostile names

    @Test func hostileNamesAreEscaped() throws {
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x\r\ny<b>&\"\u{2066};z"
        var sums = TopSums(resolved: [
            ResolvedEntry(ResolvedEntry.Thing(.function, hostile), since: 0),
            ResolvedEntry(ResolvedEntry.Thing(.library, hostile + "!"), since: 0),
        ])
        for build in [1, 2] as [UInt8] {
            var builder = RecordingBuilder(images: [("/home/" + hostile, 0)])
            builder.border(.spawned, 0)
            builder.border(.ended, 100)
            let main = builder.thread(hostile, tid: 7, to: 100, isMain: true)
            let spot = RecordingBuilder.Spot(hostile, "/home/" + hostile, file: hostile, line: 1)
            builder.slice(main, at: 0, running: 100, builder.stack([spot]))
            builder.initializer(spot, main, from: 1, to: 20, cpu: 5)
            builder.wait(
                main, from: 10, to: 30, WaitReason(.file, detail: hostile), call: 0,
                builder.stack([spot]))
            builder.recording.libraries.append(
                LibraryLoad(
                    path: "/home/\(hostile)", start: RecordingBuilder.at(1),
                    wall: .milliseconds(5), size: 1, isInitial: false))
            for index in builder.recording.modules.indices {
                builder.recording.modules[index].buildID = [build]
            }
            sums.add(Profile(builder.recording), TopLaunch(path: hostile, date: Int64(build)))
        }
        let summary = try TopSummary(sums)
        for report in [
            TopReport.text(summary), TopReport.json(summary, leftOut: [(hostile, hostile)]),
        ] {
            #expect(report.contains("owned"))
            let isClean = report.unicodeScalars.allSatisfy { scalar in
                scalar == "\n"
                    || scalar.value >= 0x20 && scalar.properties.generalCategory != .control
                        && scalar.properties.generalCategory != .format
            }
            #expect(isClean)
        }
    }
}
