import Glibc
import ProfileModel
import Recording
import Testing

/// `report` of a measurement, from the command line to the printed text; and the errors of
/// subcommands that want a recording.
@Suite struct MeasurementReportTests {
    /// Calls `body` with the path of a measurement of four launches.
    private func withMeasurement(_ body: (String) throws -> Void) throws {
        var header = Measurement.Header(
            requested: 3, recorderVersion: "0.1.0", date: 1_795_403_529_000_000_000)
        header.ending = .complete
        var measurement = Measurement(
            header: header, arms: [MeasuredArm(command: ["app"], path: "/home/me/app")],
            conditions: MeasuredConditions(),
            machine: MeasuredMachine(
                host: "bench", kernel: "6.18.0", architecture: "x86_64", processor: "Xeon",
                cores: 2, memory: 8 << 30))
        measurement.launches = (0..<4).map { number in
            MeasuredLaunch(
                arm: 0, start: .milliseconds(100 * number), wall: .milliseconds(30 + number),
                outcome: .exited(0))
        }
        measurement.launches[0].discarded = .first
        try withFile { path in
            try MeasurementWriter(creating: path, measurement).finish(.complete)
            try body(path)
        }
    }

    @Test func formats() throws {
        try withMeasurement { path in
            let text = try run(["report", path])
            #expect(text.status == 0 && text.error.isEmpty)
            #expect(text.output.hasPrefix("app · "))
            #expect(text.output.contains("f▁▅█\n"))
            #expect(!text.output.contains("\u{1B}"))
            let json = try run(["report", "--format", "json", path])
            #expect(json.status == 0)
            #expect(json.output.hasPrefix("{\"schema\":1,\"kind\":\"measurement\""))
            let csv = try run(["report", "--format", "csv", "--timings", path])
            #expect(csv.status == 0)
            #expect(csv.output.hasPrefix("order,arm,program,discarded,"))
            #expect(csv.output.split(separator: "\r\n").count == 5)
            #expect(csv.error.contains("timing: reading"))
        }
    }

    @Test func intoAFile() throws {
        try withMeasurement { path in
            let page = path + ".csv"
            defer { unlink(page) }
            let written = try run(["report", "--format", "csv", "-o", page, path])
            #expect(written.status == 0 && written.output.isEmpty)
            #expect(access(page, R_OK) == 0)
        }
    }

    @Test(arguments: [
        "--view tree", "--phase Main", "--thread 1", "--interval load", "--weight cpu",
        "--demangle simple", "--min-percent 1", "--min-duration 5ms", "--depth 3",
        "--format json --min-duration 5ms",
    ])
    func optionsOfRecordings(options: String) throws {
        try withMeasurement { path in
            let words = options.split(separator: " ").map(String.init)
            let option = words[words.count - 2]
            let refused = try run(["report", path] + words)
            #expect(refused.status == 2)
            #expect(refused.output.isEmpty)
            #expect(
                refused.error
                    == "firstlight: report: \(option) is for recordings, and \(path) is a "
                    + "measurement\n")
        }
    }

    @Test func aPage() throws {
        try withMeasurement { path in
            let page = try run(["report", path, "--format", "html"])
            #expect(page.status == 0 && page.error.isEmpty)
            #expect(page.output.hasPrefix("<!DOCTYPE html>"))
        }
    }

    @Test(arguments: ["fold", "view", "export --format svg"])
    func otherSubcommands(words: String) throws {
        try withMeasurement { path in
            let refused = try run(words.split(separator: " ").map(String.init) + [path])
            #expect(refused.status == 1)
            #expect(refused.output.isEmpty)
            #expect(
                refused.error
                    == "firstlight: \(path): is a measurement, not a recording: it has no stacks; "
                    + "'firstlight report' shows it\n")
        }
    }

    /// A table of launches is made of measurements only.
    @Test func recordingsHaveNoLaunches() throws {
        let header = Recording.Header(
            pid: 42, isAttached: false, capture: .ptrace, frequency: 1_000)
        try withFile { path in
            try RecordingWriter(creating: path, header: header).finish(header)
            let refused = try run(["report", path, "--format", "csv"])
            #expect(refused.status == 2)
            #expect(
                refused.error
                    == "firstlight: report: --format csv is for measurements, which \(path) is "
                    + "not\n")
        }
    }

    /// For a file that is not ours, the reader says what it is.
    @Test func filesOfNobody() throws {
        let missing = try run(["report", "/none/a", "--format", "json"])
        #expect(missing.status == 1)
        #expect(missing.error == "firstlight: /none/a: cannot open: No such file or directory\n")
    }
}
