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
        #expect(options.before == "a" && options.after == "b")
        #expect(options.phase == "main" && options.format == .svg && options.output == "c")
        let usual = try self.options("compare a b")
        #expect(usual.format == .text && usual.phase == nil && usual.depth == nil)
    }

    @Test(
        arguments: [
            ("compare", "compare: no file given; see 'firstlight help compare'"),
            ("compare a", "compare: only one file given; see 'firstlight help compare'"),
            ("compare a b c", "compare: more than 2 files: 'c'"),
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

    /// Whoever asks for a part does not get the whole.
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
                pid: 1, isAttached: false, capture: .signal, frequency: 1000)
            let writer = try RecordingWriter(creating: path, header: header)
            for (kind, time) in [(Mark.Kind.spawned, 1), (.ended, 1 + milliseconds)] {
                try writer.append(
                    Mark(kind: kind, time: MonotonicTime(nanoseconds: 1_000_000 * time)))
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

    @Test func aMeasurementIsRefused() throws {
        try withRecordings { before, _ in
            try withFile { path in
                let header = Measurement.Header(
                    requested: 1, recorderVersion: "0.1.0", date: 1_795_403_529_000_000_000)
                let measurement = Measurement(
                    header: header, arms: [MeasuredArm(command: ["app"], path: "/app")],
                    conditions: MeasuredConditions(),
                    machine: MeasuredMachine(
                        host: "bench", kernel: "6.18.0", architecture: "x86_64", processor: "Xeon",
                        cores: 2, memory: 8 << 30))
                try MeasurementWriter(creating: path, measurement).finish(.complete)
                for words in [[before, path], [path, before], [path, path]] {
                    let refused = try run(["compare"] + words)
                    #expect(refused.status == 2 && refused.output.isEmpty)
                    #expect(
                        refused.error
                            == "firstlight: compare: \(path) is a measurement; only recordings can "
                            + "be compared so far\n")
                }
            }
        }
    }
}
