import Foundation

/// The program to launch, and the conditions.
struct LaunchRequest: Hashable, Sendable {
    var program: String
    var arguments: [String]
    var launches: Int
    var end: LaunchEnd
    var coldness: Coldness
    var options: [String]

    /// Fewer launches of each program can show nothing.
    static let leastPairs = 7

    /// The arguments for `firstlight` without a baseline.
    func measuring(output: String) -> [String] {
        ["measure", "--format", "json", "-o", output, "-n", String(launches)] + conditions
    }

    /// The arguments for `firstlight` with a baseline.
    ///
    /// - Parameter allowed: how much slower is allowed, as a fraction.
    func gating(_ baseline: LaunchBaseline, allowed: Double, output: String) -> [String] {
        [
            "gate", "--format", "json", "-o", output, "--max-launches",
            String(max(launches, Self.leastPairs)), "--max-regression",
            String(format: "%.6f%%", allowed * 100), "--baseline", baseline.word,
        ] + conditions
    }

    private var conditions: [String] {
        var words: [String] = []
        for condition in end.conditions where condition != "exit" {
            words += ["--until", condition]
        }
        switch coldness {
        case .warm: words.append("--warm")
        case .cold: words.append("--cold")
        case .allCold: words.append("--cold=all")
        }
        return words + options + ["--", program] + arguments
    }
}

extension LaunchBaseline {
    /// For `firstlight gate --baseline`.
    var word: String {
        switch self {
        case .command(let words): Self.quoted(words)
        // A name that begins with a dash would be taken for an option.
        case .file(let path): URL(fileURLWithPath: path).path
        }
    }

    /// One word that a shell splits into these again.
    static func quoted(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    }

    func check() throws(LaunchMetricError) {
        switch self {
        case .command(let words):
            guard words.first?.isEmpty == false else {
                throw .invalidArgument("the baseline's command is empty")
            }
        case .file(let path):
            guard FileManager.default.fileExists(atPath: path) else {
                throw .invalidArgument("the baseline \(path) does not exist")
            }
        }
    }
}

/// One call of ``measureLaunch(of:arguments:launches:until:coldness:baseline:maxRegression:saveTo:options:fileID:filePath:line:column:)``.
struct MetricRun: Sendable {
    let tool: FirstlightTool
    let request: LaunchRequest
    let baseline: LaunchBaseline?
    let maxRegression: Double

    init(
        tool: FirstlightTool, request: LaunchRequest, baseline: LaunchBaseline?,
        maxRegression: Double
    ) throws(LaunchMetricError) {
        guard 1...100_000 ~= request.launches else {
            throw .invalidArgument(
                "launches must be from 1 to 100000, not \(request.launches)")
        }
        guard 0...1 ~= maxRegression else {
            throw .invalidArgument("maxRegression must be from 0 to 1, not \(maxRegression)")
        }
        try baseline?.check()
        self.tool = tool
        self.request = request
        self.baseline = baseline
        self.maxRegression = maxRegression
    }

    /// - Parameter path: where to store the measurement; nil: nowhere.
    func measure(saveTo path: String?) async throws -> LaunchMeasurement {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let output = path ?? folder.path + "/launches.firstlight"
        guard let baseline else {
            return try await figures(request.measuring(output: output))
        }
        // 1: a regression; 3: inconclusive.
        let answer = try await run(
            request.gating(baseline, allowed: maxRegression, output: output),
            answers: [0, 1, 3])
        let verdict = try GateDocument(answer).launchVerdict
        let file = URL(fileURLWithPath: output).path
        var measurement = try await figures(["report", "--format", "json", "--", file])
        measurement.verdict = verdict
        return measurement
    }

    private func figures(_ words: [String]) async throws -> LaunchMeasurement {
        guard let figures = try MeasurementDocument(try await run(words)).figures else {
            throw LaunchMetricError.unreadable("firstlight reported no launch that counts")
        }
        return figures
    }

    /// - Parameter answers: the exit statuses with which it prints an answer.
    private func run(_ words: [String], answers: Set<Int32> = [0]) async throws -> Data {
        let output = try await tool.run(words)
        guard answers.contains(output.status) else {
            throw LaunchMetricError.failed(status: output.status, message: output.complaints)
        }
        return output.text
    }
}
