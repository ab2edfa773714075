import Foundation

@testable import LaunchMetric

/// A report as `firstlight measure --format json` prints it, made by hand.
struct MadeReport {
    var schema = 1
    var kind = "measurement"
    /// The median of all launches, in ms.
    var median = 100.0
    var counted = 10

    var json: String {
        let times =
            "{\"n\":\(counted),\"medianNs\":\(ns(median)),\"lowNs\":\(ns(median - 1)),"
            + "\"highNs\":\(ns(median + 1)),\"p90Ns\":null,"
            + "\"minNs\":\(ns(median - 5)),\"maxNs\":\(ns(median + 5)),\"confidence\":0.95}"
        return """
            {"schema":\(schema),"kind":"\(kind)",
            "program":{"name":"app","path":"/opt/app","arguments":["app","-x"]},
            "against":null,"newer":{"than":["this"]},
            "launches":[
            {"index":0,"order":0,"arm":0,"discarded":"first","wallNs":\(ns(median * 2)),"cpuNs":null,
            "status":0,"phases":[]},
            {"index":1,"order":1,"arm":1,"discarded":null,"wallNs":\(ns(median)),"cpuNs":5000000,
            "readBytes":4096,"status":null,"phases":[]}],
            "summary":{"launches":\(counted),"wall":\(counted > 0 ? times : "null"),
            "phases":[{"name":"Main","wall":\(times),"cpu":null}],"cpu":\(times),
            "mainBlocked":null,"readBytes":{"n":10,"median":0.5,"low":0,"high":4096,"p90":null,
            "min":0,"max":4096}},
            "comparison":null,"notes":[{"kind":"drift","text":"it drifts"}]}
            """
    }

    private func ns(_ milliseconds: Double) -> String { String(Int64(milliseconds * 1_000_000)) }
}

/// An answer as `firstlight gate --format json` prints it, made by hand.
struct MadeAnswer {
    var verdict = "passed"
    /// In percent of 100 ms, with its bounds; nil: there is no comparison.
    var change: (Double, Double, Double)? = (1, -1, 2)
    var basis = "turns"
    /// That of the exit.
    var status: Int32 = 0

    var json: String {
        """
        {"schema":1,"kind":"gate","verdict":"\(verdict)","status":\(status),"text":"so it is",
        "grounds":["for one","for another"],"basis":"\(basis)",
        \(basis == "turns" ? "\"comparison\":\(difference)"
            : "\"stored\":{\"name\":\"kept\",\"reason\":\"gone\",\"difference\":\(difference)}")}
        """
    }

    private var difference: String {
        guard let (value, low, high) = change else { return "null" }
        return """
            {"change":\(value / 100),"low":\(low / 100),"high":\(high / 100),"confidence":0.99,
            "differenceNs":\(Int64(value * 1_000_000))}
            """
    }
}

/// A program in the place of `firstlight` (the script made-firstlight), with given answers. It
/// notes its arguments.
final class MadeTool {
    private let folder: TemporaryFolder
    let tool: FirstlightTool

    /// Answers a gate, and reports its launches.
    convenience init(_ answer: MadeAnswer, _ report: MadeReport = MadeReport()) throws {
        try self.init([answer.json, report.json], statuses: [answer.status, 0])
    }

    convenience init(_ report: MadeReport, status: Int32 = 0, complaint: String = "") throws {
        try self.init([report.json], statuses: [status], complaint: complaint)
    }

    /// - Parameter answers: to one call after the other; the last counts for all others.
    private init(_ answers: [String], statuses: [Int32], complaint: String = "") throws {
        folder = try TemporaryFolder()
        let path = folder.path
        for (number, (answer, status)) in zip(answers, statuses).enumerated() {
            try Self.write(answer, to: "\(path)/answer.\(number)")
            try Self.write("\(status)", to: "\(path)/status.\(number)")
        }
        try Self.write("\(answers.count - 1)", to: path + "/last")
        if !complaint.isEmpty { try Self.write("firstlight: \(complaint)\n", to: path + "/error") }
        // A file that was just written may be busy: another thread's child may have it open.
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("made-firstlight").path
        try FileManager.default.createSymbolicLink(
            atPath: path + "/firstlight", withDestinationPath: script)
        tool = FirstlightTool(path: path + "/firstlight")
    }

    private static func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    deinit { folder.remove() }

    /// The words of each call.
    var asked: [[String]] {
        var calls: [[String]] = []
        while let text = try? String(
            contentsOfFile: "\(folder.path)/asked.\(calls.count)", encoding: .utf8)
        {
            let words = text.split(separator: "\n", omittingEmptySubsequences: false)
            calls.append(words.dropLast().map(String.init))
        }
        return calls
    }

    func run(
        _ baseline: LaunchBaseline? = nil, launches: Int = 10, end: LaunchEnd = .exit,
        coldness: Coldness = .warm, maxRegression: Double = 0.03, program: String = "/opt/new",
        options: [String] = []
    ) throws -> MetricRun {
        try MetricRun(
            tool: tool,
            request: LaunchRequest(
                program: program, arguments: ["-x", "a b"], launches: launches, end: end,
                coldness: coldness, options: options),
            baseline: baseline, maxRegression: maxRegression)
    }
}
