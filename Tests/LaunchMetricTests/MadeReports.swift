import Foundation

@testable import LaunchMetric

/// A report as `firstlight measure --format json` prints it, made by hand.
struct MadeReport {
    var schema = 1
    var kind = "measurement"
    var path = "/opt/app"
    var date: Int64 = 1_900_000_000_000_000_000
    var boot: String? = "boot-1"
    var host = "here"
    var kernel = "6.18"
    var cache = "warm"
    var dropped: String?
    var network: String?
    var until: [String] = []
    /// The median of all launches, and its interval to both sides, in ms.
    var median = 100.0
    var margin: Double? = 1
    /// In percent, with its bounds; nil: there is no comparison.
    var change: (Double, Double, Double)?
    var confidence = 0.99
    var counted = 10

    var json: String {
        let wall =
            margin.map {
                "\"lowNs\":\(ns(median - $0)),\"highNs\":\(ns(median + $0))"
            } ?? "\"lowNs\":null,\"highNs\":null"
        let times =
            "{\"n\":\(counted),\"medianNs\":\(ns(median)),\(wall),\"p90Ns\":null,"
            + "\"minNs\":\(ns(median - 5)),\"maxNs\":\(ns(median + 5)),\"confidence\":0.95}"
        return """
            {"schema":\(schema),"kind":"\(kind)",
            "program":{"name":"app","path":"\(path)","arguments":["app","-x"]},
            "against":null,"newer":{"than":["this"]},
            "measurement":{"requested":10,"ending":"complete","dateNs":\(date)},
            "machine":{"host":"\(host)","kernel":"\(kernel)","boot":\(text(boot)),"cores":2},
            "conditions":{"cache":"\(cache)","dropped":\(text(dropped)),
            "network":\(text(network)),"disk":null,
            "until":[\(until.map { "\"\($0)\"" }.joined(separator: ","))]},
            "launches":[
            {"index":0,"order":0,"arm":0,"discarded":"first","wallNs":\(ns(median * 2)),"cpuNs":null,
            "status":0,"phases":[]},
            {"index":1,"order":1,"arm":1,"discarded":null,"wallNs":\(ns(median)),"cpuNs":5000000,
            "readBytes":4096,"status":null,"phases":[]}],
            "summary":{"launches":\(counted),"wall":\(counted > 0 ? times : "null"),
            "phases":[{"name":"Main","wall":\(times),"cpu":null}],"cpu":\(times),
            "mainBlocked":null,"readBytes":{"n":10,"median":0.5,"low":0,"high":4096,"p90":null,
            "min":0,"max":4096}},
            "comparison":\(comparison),"notes":[{"kind":"drift","text":"it drifts"}]}
            """
    }

    private var comparison: String {
        guard let (value, low, high) = change else { return "null" }
        func share(_ percent: Double) -> String { String(percent / 100) }
        func time(_ percent: Double) -> String { ns(median * percent / 100) }
        return """
            {"verdict":"same","pairs":10,"change":\(share(value)),
            "low":\(share(low)),"high":\(share(high)),"confidence":\(confidence),
            "detectable":0.08,"differenceNs":\(time(value)),
            "differenceLowNs":\(time(low)),"differenceHighNs":\(time(high))}
            """
    }

    private func ns(_ milliseconds: Double) -> String { String(Int64(milliseconds * 1_000_000)) }
    private func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
}

/// A program in the place of `firstlight` (the script made-firstlight), with given answers. It
/// notes its arguments.
final class MadeTool {
    private let folder: TemporaryFolder
    let tool: FirstlightTool

    /// - Parameter answers: to one call after the other; the last counts for all others.
    init(_ answers: [MadeReport], status: Int32 = 0, complaint: String = "") throws {
        folder = try TemporaryFolder()
        let path = folder.path
        for (number, answer) in answers.enumerated() {
            try Self.write(answer.json, to: "\(path)/answer.\(number)")
        }
        try Self.write("\(answers.count - 1)", to: path + "/last")
        try Self.write("\(status)", to: path + "/status")
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
