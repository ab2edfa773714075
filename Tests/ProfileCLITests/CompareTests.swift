import Glibc
import ProfileCLI
import ProfileModel
import Recording
import Testing

/// `compare`, from the command line to the printed text.
@Suite struct CompareTests {
    private func options(_ line: String) throws -> CompareOptions {
        try CompareOptions(try #require(parsedArguments(line)))
    }

    @Test func words() throws {
        let options = try options("compare --phase main a --format svg -o c b")
        #expect(options.before == ["a"] && options.after == ["b"])
        #expect(options.phase == "main" && options.format == .svg && options.output == "c")
        let usual = try self.options("compare a b")
        #expect(usual.format == .text && usual.phase == nil && usual.depth == nil)
        let several = try self.options("compare a b --with c -- --with")
        #expect(several.before == ["a", "b"] && several.after == ["c", "--with"])
    }

    @Test(
        arguments: [
            ("compare", "compare: no file given; see 'firstlight help compare'"),
            ("compare a", "compare: only one file given; see 'firstlight help compare'"),
            ("report a b", "report: more than one file: 'b'"),
            ("compare --format xml a b", nil),
        ] as [(String, String?)])
    func usageErrors(line: String, message: String?) {
        guard case .failure(let error) = parse(line) else {
            Issue.record("no error")
            return
        }
        #expect(error.exitStatus == 2)
        if let message { #expect(error.description == message) }
    }

    @Test(arguments: [
        ("compare a b c", "more than 2 files: 'c'; to compare several on each side, put --with"),
        ("compare --with a b", "no file before --with"),
        ("compare a b --with", "no file behind --with"),
    ])
    func sides(line: String, message: String) throws {
        let run = try run(line.split(separator: " ").map(String.init))
        #expect(run.status == 2 && run.error.contains(message), "\(run.error)")
    }

    /// A request for a part does not give the whole.
    @Test(arguments: [
        "--format json --phase main", "--format json --depth 3", "--format svg --depth 3",
        "--format folded --depth 3", "--format html --phase main", "--format html --depth 3",
    ])
    func optionsWithoutEffect(words: String) throws {
        let run = try run("compare a b \(words)".split(separator: " ").map(String.init))
        #expect(run.status == 2)
        #expect(run.error.hasSuffix("which is complete\n"))
    }

    private func withRecordings(_ body: (String, String) throws -> Void) throws {
        func write(_ path: String, milliseconds: Int64) throws {
            let header = Recording.Header(
                pid: 1, isAttached: false, capture: .untraced, frequency: 1000)
            let writer = try RecordingWriter(creating: path, header: header)
            for (kind, time) in [(LaunchBorder.Kind.spawned, 1), (.ended, 1 + milliseconds)] {
                try writer.append(
                    LaunchBorder(kind: kind, time: MonotonicTime(nanoseconds: 1_000_000 * time)))
            }
            try writer.finish(header)
        }
        try withFile { before in
            try withFile { after in
                try write(before, milliseconds: 50)
                try write(after, milliseconds: 20)
                try body(before, after)
            }
        }
    }

    @Test func formats() throws {
        try withRecordings { before, after in
            let text = try run(["compare", before, after])
            #expect(text.status == 0 && text.error.isEmpty, "\(text.error)")
            #expect(text.output.contains("\n30.0 ms faster (-60.0 %)\n"))
            let json = try run(["compare", before, after, "--format", "json"])
            #expect(json.output.hasPrefix("{\"schema\":1,\"kind\":\"comparison\""))
            let folded = try run(["compare", before, after, "--format", "folded"])
            #expect(folded.output == "Process creation;[not recorded] 50000 20000\n")
            let svg = try run(["compare", before, after, "--format", "svg", "--timings"])
            #expect(svg.output.hasPrefix("<?xml"))
            #expect(svg.error.contains("timing: comparing"))
            let html = try run(["compare", before, after, "--format", "html"])
            #expect(html.status == 0 && html.output.hasPrefix("<!DOCTYPE html>"))
            let title = "50.0 ms before, 20.0 ms after, 30.0 ms faster (-60.0 %)"
            #expect(html.output.contains("\(title) – Firstlight</title>"))
            let phase = try run(["compare", before, after, "--phase", "nothing"])
            #expect(phase.status == 1)
            #expect(phase.error.contains("no phase 'nothing' in this recording"))
            let missing = try run(["compare", before, after + ".missing"])
            #expect(missing.status == 1 && missing.output.isEmpty)
        }
    }

    private func withMeasurements(
        boots: (String?, String?) = ("b", "b"), kernels: (String, String) = ("6", "6"),
        _ body: (String, String) throws -> Void
    ) throws {
        func write(_ path: String, _ boot: String?, _ kernel: String, milliseconds: Int64) throws {
            let header = Measurement.Header(
                requested: 8, recorderVersion: "0.1.0", date: 1_795_403_529_000_000_000)
            var machine = MeasuredMachine(
                host: "bench", kernel: kernel, architecture: "x86_64", processor: "Xeon", cores: 2,
                memory: 8 << 30)
            machine.boot = boot
            let measurement = Measurement(
                header: header, arms: [MeasuredArm(command: ["app"], path: "/app")],
                conditions: MeasuredConditions(), machine: machine)
            let writer = try MeasurementWriter(creating: path, measurement)
            for index in 0..<8 {
                try writer.append(
                    MeasuredLaunch(
                        arm: 0, start: .zero,
                        wall: TimeSpan(nanoseconds: 1_000_000 * milliseconds + Int64(index)),
                        outcome: .exited(0)))
            }
            try writer.finish(.complete)
        }
        try withFile { before in
            try withFile { after in
                try write(before, boots.0, kernels.0, milliseconds: 100)
                try write(after, boots.1, kernels.1, milliseconds: 200)
                try body(before, after)
            }
        }
    }

    @Test func measurements() throws {
        try withMeasurements { before, after in
            let text = try run(["compare", before, after])
            #expect(text.status == 0 && text.error.isEmpty, "\(text.error)")
            #expect(text.output.contains(" is slower than "))
            #expect(text.output.contains("not measured in turns"))
            let json = try run(["compare", before, after, "--format", "json"])
            #expect(json.output.hasPrefix("{\"schema\":1,\"kind\":\"measurement-comparison\""))
            let same = try run(["compare", before, before])
            #expect(same.status == 0 && same.output.contains(" is not slower than "))
        }
        try withMeasurements(boots: ("a", nil)) { before, after in
            let text = try run(["compare", before, after])
            #expect(text.status == 0 && text.output.contains("is not known"))
        }
    }

    /// Figures of other circumstances say nothing, unless the user insists.
    @Test func otherCircumstances() throws {
        try withMeasurements(kernels: ("5", "6")) { before, after in
            let refused = try run(["compare", before, after])
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.error.contains("the kernels differ: 5 before, 6 after (--anyway"))
            let insisted = try run(["compare", before, after, "--anyway"])
            #expect(insisted.status == 0 && insisted.output.contains("the kernels differ"))
        }
    }

    @Test(arguments: [
        ("--phase main", "--phase is for recordings"), ("--depth 3", "--depth is for recordings"),
        ("--demangle none", "--demangle is for recordings"),
        ("--format svg", "--format svg is for recordings"),
    ])
    func optionsOfRecordings(words: String, message: String) throws {
        try withMeasurements { before, after in
            let run = try run(
                ["compare", before, after] + words.split(separator: " ").map(String.init))
            #expect(run.status == 2 && run.error.contains(message))
        }
        try withRecordings { before, after in
            let run = try run(["compare", before, after, "--anyway"])
            #expect(run.status == 2 && run.error.contains("--anyway is for measurements"))
        }
    }

    @Test func twoKinds() throws {
        try withRecordings { recording, _ in
            try withMeasurements { measurement, _ in
                for words in [[recording, measurement], [measurement, recording]] {
                    let refused = try run(["compare"] + words)
                    #expect(refused.status == 2 && refused.output.isEmpty)
                    #expect(
                        refused.error
                            == "firstlight: compare: \(measurement) is a measurement and "
                            + "\(recording) is not; only two of one kind can be compared\n")
                }
            }
        }
    }
}
