import TestSupport
package import Testing

extension Firstlight {
    /// The capture in the tests of programs that fight back.
    package static let defaultCapture: [String] = []
}

/// A program without recording, and the same program recorded.
package struct SideBySide {
    /// In seconds: far more than any of these programs takes, so a program that hangs is found.
    private static let limit = 300.0

    package let scratch: Scratch

    package init(scratch: Scratch) { self.scratch = scratch }

    /// Expects a fixture to have the same output and end as without recording, and its recording to
    /// be valid.
    @discardableResult
    package func compare(
        fixture words: [String], options: [String] = Firstlight.defaultCapture,
        adding variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchReport {
        let program = [try Setup.fixture(words[0])] + words.dropFirst()
        return try compare(
            program, options: options, adding: variables, sourceLocation: sourceLocation)
    }

    /// The same for any program.
    ///
    /// - Parameter wrapper: the command that executes the recorder.
    @discardableResult
    package func compare(
        _ program: [String], under wrapper: [String] = [],
        options: [String] = Firstlight.defaultCapture, adding variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchReport {
        let alone = try Command(program, adding: variables).run(limit: Self.limit)
        let path = scratch("recording")
        var command = try Firstlight.recording(
            program, to: path, options: ["--quiet"] + options, adding: variables)
        command.words.insert(contentsOf: wrapper, at: 0)
        let recorded = try command.run(limit: Self.limit)
        #expect(recorded == alone, sourceLocation: sourceLocation)
        let report = try Recorded(path: path, finished: recorded).json()
        #expect(report.brokenSums.isEmpty, sourceLocation: sourceLocation)
        // In a short stretch, a program may have had no core.
        if !options.contains("--duration") {
            #expect(report.launch.slices > 0, sourceLocation: sourceLocation)
        }
        return report
    }
}

extension LaunchReport {
    /// The sums that are wrong, among those that must be right in every recording.
    package var brokenSums: [String] {
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
