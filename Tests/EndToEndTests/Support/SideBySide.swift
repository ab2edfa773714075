import Testing

extension Firstlight {
    /// How the tests of programs that fight back let `record` take stacks.
    static let defaultCapture: [String] = []
}

/// A program without us, and the same program recorded.
struct SideBySide {
    /// Far more than any of these programs takes: one that hangs is a finding of its own.
    private static let limit = 30.0

    let scratch: Scratch

    /// Expects a fixture to write the same and to end in the same way as alone, and its recording
    /// to be valid.
    @discardableResult
    func compare(
        fixture words: [String], options: [String] = Firstlight.defaultCapture,
        adding variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchReport {
        let program = [try Setup.fixture(words[0])] + words.dropFirst()
        return try compare(
            program, options: options, adding: variables, sourceLocation: sourceLocation)
    }

    /// The same of any program.
    @discardableResult
    func compare(
        _ program: [String], options: [String] = Firstlight.defaultCapture,
        adding variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchReport {
        let alone = try Command(program, adding: variables).run(limit: Self.limit)
        let path = scratch("recording")
        let recorded = try Firstlight.recording(
            program, to: path, options: ["--quiet"] + options, adding: variables
        ).run(limit: Self.limit)
        #expect(recorded == alone, sourceLocation: sourceLocation)
        let report = try Recorded(path: path, finished: recorded).json()
        #expect(report.brokenSums.isEmpty, sourceLocation: sourceLocation)
        #expect(report.launch.slices > 0, sourceLocation: sourceLocation)
        return report
    }
}

extension LaunchReport {
    /// Those of the sums that do not come out, of all that hold in every recording.
    var brokenSums: [String] {
        var broken: [String] = []
        func check(_ name: String, _ parts: [Int64], _ whole: Int64) {
            let sum = parts.reduce(0, +)
            if sum != whole { broken.append("\(name): \(sum) is not \(whole)") }
        }
        check("phases' wall", phases.map(\.wallNs), launch.wallNs)
        check("phases' CPU", phases.map(\.cpuNs), launch.cpuNs)
        check("functions' CPU", functions.map(\.selfCpuNs), launch.cpuNs)
        check("threads' CPU", threads.map(\.runningNs), launch.cpuNs)
        for thread in threads { check("thread \(thread.tid)", [thread.sum], thread.wallNs) }
        return broken
    }
}
