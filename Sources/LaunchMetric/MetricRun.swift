import Foundation

/// The program to launch, and the conditions.
struct LaunchRequest: Hashable, Sendable {
    var program: String
    var arguments: [String]
    var launches: Int
    var end: LaunchEnd
    var coldness: Coldness
    var options: [String]

    /// The arguments for `firstlight`.
    func words(against: [String]?, output: String) -> [String] {
        var words = ["measure", "--format", "json", "-o", output, "-n", String(launches)]
        for condition in end.conditions where condition != "exit" {
            words += ["--until", condition]
        }
        switch coldness {
        case .warm: words.append("--warm")
        case .cold: words.append("--cold")
        case .allCold: words.append("--cold=all")
        }
        if let against { words += ["--against", Self.quoted(against)] }
        return words + options + ["--", program] + arguments
    }

    /// One word that a shell splits into these again.
    static func quoted(_ words: [String]) -> String {
        words.map { "'" + $0.replacing("'", with: "'\\''") + "'" }.joined(separator: " ")
    }
}

/// One call of ``measureLaunch(of:arguments:launches:until:coldness:baseline:maxRegression:saveTo:options:fileID:filePath:line:column:)``.
struct MetricRun: Sendable {
    let tool: FirstlightTool
    let request: LaunchRequest
    let baseline: LaunchBaseline?
    let judgement: Judgement

    init(
        tool: FirstlightTool, request: LaunchRequest, baseline: LaunchBaseline?,
        maxRegression: Double
    ) throws(LaunchMetricError) {
        guard 1...100_000 ~= request.launches else {
            throw .invalidArgument(
                "launches must be from 1 to 100000, not \(request.launches)")
        }
        guard maxRegression.isFinite, maxRegression >= 0 else {
            throw .invalidArgument("maxRegression must be at least 0, not \(maxRegression)")
        }
        if case .command(let words) = baseline, words.first?.isEmpty != false {
            throw .invalidArgument("the baseline's command is empty")
        }
        self.tool = tool
        self.request = request
        self.baseline = baseline
        judgement = Judgement(maxRegression: maxRegression)
    }

    /// - Parameter path: where to store the measurement; nil: nowhere.
    func measure(saveTo path: String?) async throws -> LaunchMeasurement {
        switch baseline {
        case nil:
            return try figures(try await launch(against: nil, saveTo: path))
        case .command(let words):
            return try await compare(with: words, saveTo: path)
        case .file(let file):
            let stored = try await report(of: file)
            if let words = StoredBaseline(stored).command(besides: request.program) {
                return try await compare(with: words, stored: stored, saveTo: path)
            }
            return try await compare(with: stored, file: file, saveTo: path)
        }
    }

    // MARK: - By turns

    private func compare(
        with words: [String], stored: MeasurementDocument? = nil, saveTo path: String?
    ) async throws -> LaunchMeasurement {
        let first = try await launch(against: words, saveTo: path)
        if let stored { try StoredBaseline(stored).checkConditions(of: first) }
        var measurement = try figures(first)
        let names = ComparedNames(first.program.arguments, against: words)
        guard let found = first.comparison.map(Difference.init) else {
            measurement.verdict = Judgement.undecided(names, because: "too few launches count")
            return measurement
        }
        var second: Difference?
        if judgement.outcome(of: found) == .failed {
            second =
                try await launch(against: words, saveTo: nil).comparison.map(Difference.init)
                ?? .unknown
        }
        measurement.verdict = judgement.verdict(names, found, second: second)
        return measurement
    }

    // MARK: - By stored figures

    private func compare(
        with stored: MeasurementDocument, file: String, saveTo path: String?
    ) async throws -> LaunchMeasurement {
        let first = try await launch(against: nil, saveTo: path)
        let baseline = StoredBaseline(stored)
        try baseline.checkConditions(of: first)
        var measurement = try figures(first)
        let names = ComparedNames(
            program: ComparedNames.short(first.program.arguments), baseline: file)
        if let doubt = baseline.doubt(on: first.machine) {
            measurement.verdict = Judgement.undecided(names, because: doubt)
            return measurement
        }
        guard let found = Difference(first.summary.wall, against: stored.summary.wall) else {
            measurement.verdict = Judgement.undecided(
                names, because: "there are too few launches; measure more")
            return measurement
        }
        var second: Difference?
        if judgement.outcome(of: found) == .failed {
            let again = try await launch(against: nil, saveTo: nil)
            second = Difference(again.summary.wall, against: stored.summary.wall) ?? .unknown
        }
        measurement.verdict = judgement.verdict(names, found, second: second)
        return measurement
    }

    // MARK: - firstlight

    private func launch(
        against words: [String]?, saveTo path: String?
    ) async throws -> MeasurementDocument {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let output = path ?? folder.path + "/launches.firstlight"
        return try await document(request.words(against: words, output: output))
    }

    private func report(of file: String) async throws -> MeasurementDocument {
        // A name that begins with a dash would be taken for an option.
        try await document(["report", "--format", "json", "--", file])
    }

    private func document(_ words: [String]) async throws -> MeasurementDocument {
        let output = try await tool.run(words)
        guard output.status == 0 else {
            throw LaunchMetricError.failed(status: output.status, message: output.complaints)
        }
        return try MeasurementDocument(output.text)
    }

    private func figures(
        _ document: MeasurementDocument
    ) throws(LaunchMetricError) -> LaunchMeasurement {
        guard let figures = document.figures else {
            throw .unreadable("firstlight reported no launch that counts")
        }
        return figures
    }
}

extension Difference {
    /// No difference could be measured.
    static let unknown = Difference(
        change: .nan, low: .nan, high: .nan, time: .nan, timeLow: .nan, timeHigh: .nan,
        confidence: nil, pairs: nil, detectable: nil)
}
