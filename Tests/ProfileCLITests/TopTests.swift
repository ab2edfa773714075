import Analysis
import Glibc
import ProfileCLI
import ProfileModel
import Recording
import TestSupport
import Testing

/// `top`, from the command line to the printed text.
@Suite struct TopTests {
    private func options(_ line: String) throws -> TopOptions {
        try TopOptions(try #require(parsedArguments(line)))
    }

    private func ran(_ words: [String]) throws -> Run { try run(words) }

    @Test func words() throws {
        let options = try options(
            "top a --phase main b --resolved l --resolve f --resolve wait=g --depth 3 -o c d")
        #expect(options.paths == ["a", "b", "d"])
        #expect(options.phase == "main" && options.depth == 3 && options.output == "c")
        #expect(options.resolved == "l" && options.format == .text)
        #expect(options.resolve.map(\.name) == ["f", "g"])
        #expect(options.resolve.map(\.kind) == [nil, .wait])
        let usual = try self.options("top a")
        #expect(usual.resolved == nil && usual.resolve.isEmpty && usual.phase == nil)
    }

    /// Operators are no kinds.
    @Test(arguments: ["operator=", "a::operator==(a)", "wait=", "=f", "thread=x", "waits"])
    func namesWithoutKind(name: String) throws {
        let options = try TopOptions(
            try #require(parsedArguments("top a --resolved l --resolve \(name)")))
        #expect(options.resolve.map(\.name) == [name] && options.resolve.map(\.kind) == [nil])
    }

    @Test(
        arguments: [
            ("top", "top: no file given; see 'firstlight help top'"),
            (
                "top a --resolve f",
                "top: --resolve needs the list to add to: name one by --resolved"
            ),
            (
                "top a --depth 3 --format json",
                "top: --depth does not go with --format json, which is complete"
            ),
            ("top a --format html", nil), ("top a --resolved", nil), ("top --thread 1 a", nil),
        ] as [(String, String?)])
    func usageErrors(line: String, message: String?) throws {
        let run = try ran(line.split(separator: " ").map(String.init))
        #expect(run.status == 2 && run.output.isEmpty)
        if let message { #expect(run.error == "firstlight: \(message)\n") }
    }

    // MARK: Recordings

    private static func write(
        _ path: String, milliseconds: Int64, isAttached: Bool = false, isCut: Bool = false,
        program: String = "/home/dev/app"
    ) throws {
        var header = Recording.Header(
            pid: 1, isAttached: isAttached, capture: .untraced, frequency: 1000)
        if !isCut { header.outcome = .exited(0) }
        func at(_ time: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: 1_000_000 * time) }
        let writer = try RecordingWriter(creating: path, header: header)
        try writer.append(Image(path: program, arguments: [program], time: at(1)))
        for (kind, time) in [
            (LaunchBorder.Kind.spawned, 1), (.firstInstruction, 1), (.main, 1),
            (.ended, 1 + milliseconds),
        ] {
            try writer.append(LaunchBorder(kind: kind, time: at(time)))
        }
        try writer.finish(header)
    }

    /// Three launches, and possibly other files beside them.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let scratch = try Scratch()
        let folder = scratch.folder
        for (name, milliseconds) in zip(["a", "b", "c"], [10, 20, 60] as [Int64]) {
            try Self.write("\(folder)/\(name).firstlight", milliseconds: milliseconds)
        }
        try withExtendedLifetime(scratch) { try body(folder) }
    }

    private func put(_ text: String, _ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        #expect(file >= 0)
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }

    private func text(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, buffer.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func manyLaunches() throws {
        try withFolder { folder in
            let run = try ran(["top", folder])
            #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
            #expect(run.output.hasPrefix("app · 3 launches · a launch takes 30.0 ms ± "))
            #expect(run.output.contains("[not recorded]"))
            let same = try ran(
                ["top", folder, "\(folder)/a.firstlight", "-o", "\(folder)/out", "--timings"])
            #expect(same.status == 0 && same.output.isEmpty)
            #expect(same.error.contains("timing: adding up"))
            #expect(text("\(folder)/out") == run.output)
            let json = try ran(["top", folder, "--format", "json"])
            #expect(json.output.hasPrefix("{\"schema\":1,\"kind\":\"top\",\"phase\":null"))
            let phase = try ran(["top", folder, "--phase", "main"])
            #expect(phase.output.contains("3 launches · Main in a launch takes"))
            let none = try ran(["top", folder, "--phase", "nothing"])
            #expect(none.status == 1 && none.output.isEmpty)
            #expect(
                none.error.hasPrefix(
                    "firstlight: no phase 'nothing' in these recordings; they have: "))
        }
    }

    /// The rest is shown, and each broken file is reported in a line.
    @Test func brokenOnesAmongThem() throws {
        try withFolder { folder in
            put("no recording\n", "\(folder)/d.firstlight")
            put("neither\n", "\(folder)/notes")
            let run = try ran(["top", folder, "\(folder)/missing"])
            #expect(run.status == 1)
            #expect(run.output.hasPrefix("app · 3 launches · "))
            #expect(
                run.error == """
                    firstlight: \(folder)/missing: cannot open: No such file or directory
                    firstlight: \(folder)/d.firstlight: not a Firstlight recording

                    """)
            let json = try ran(["top", folder, "--format", "json"])
            #expect(json.status == 1)
            #expect(json.output.contains("\"path\":\"\(folder)/d.firstlight\""))
            // The first half of a good one.
            #expect(truncate("\(folder)/c.firstlight", 6_000) == 0)
            let half = try ran(["top", folder])
            #expect(half.status == 1 && half.output.hasPrefix("app · 2 launches · "))
            #expect(half.error.split(separator: "\n").count == 2)
        }
    }

    @Test func nothingToShow() throws {
        try withFolder { folder in
            put("no recording\n", "\(folder)/d.firstlight")
            let run = try ran(["top", "\(folder)/d.firstlight"])
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(
                run.error == """
                    firstlight: \(folder)/d.firstlight: not a Firstlight recording
                    firstlight: nothing to show: none of these is a recording of a launch

                    """)
        }
    }

    /// Half a launch would make the mean a wrong one.
    @Test func incompleteLaunchesAreLeftOut() throws {
        try withFolder { folder in
            try Self.write("\(folder)/d.firstlight", milliseconds: 500, isAttached: true)
            try Self.write("\(folder)/m.firstlight", milliseconds: 500, isCut: true)
            let run = try ran(["top", folder])
            #expect(run.status == 0 && run.output.hasPrefix("app · 3 launches · "))
            #expect(run.error.contains("d.firstlight: was attached to a running program, and has "))
            #expect(run.error.contains("m.firstlight: was cut short (its recorder was killed)"))
            #expect(run.error.split(separator: "\n").count == 2)
        }
    }

    @Test func programsAreNotMixed() throws {
        try withFolder { folder in
            try Self.write("\(folder)/d.firstlight", milliseconds: 7, program: "/bin/other")
            let run = try ran(["top", folder])
            #expect(run.output.hasPrefix("app · 3 launches · "))
            #expect(run.output.contains("\nother · 1 launch · a launch takes 7.0 ms\n"))
        }
    }

    /// Measurements lie in the same folders.
    @Test func measurements() throws {
        try withFolder { folder in
            let path = "\(folder)/m.firstlight"
            let measurement = Measurement(
                header: Measurement.Header(
                    requested: 1, recorderVersion: "0.1.0", date: 1_795_403_529_000_000_000),
                arms: [MeasuredArm(command: ["app"], path: "/app")],
                conditions: MeasuredConditions(),
                machine: MeasuredMachine(
                    host: "bench", kernel: "6.18.0", architecture: "x86_64", processor: "Xeon",
                    cores: 2, memory: 8 << 30))
            try MeasurementWriter(creating: path, measurement).finish(.complete)
            let run = try ran(["top", folder])
            #expect(run.status == 0 && run.error.isEmpty)
            let named = try ran(["top", folder, path])
            #expect(named.status == 1 && named.output.hasPrefix("app · 3 launches"))
            #expect(named.error.contains("is a measurement, not a recording"))
        }
    }

    // MARK: The list of resolved things

    @Test func theList() throws {
        try withFolder { folder in
            let list = "\(folder)/list"
            let missing = try ran(["top", folder, "--resolved", list])
            #expect(missing.status == 1 && missing.output.isEmpty)
            #expect(
                missing.error == "firstlight: \(list): cannot open: No such file or directory\n")
            let words = ["top", folder, "--resolved", list, "--resolve"]
            let first = try ran(words + ["[not rec"])
            #expect(first.status == 0)
            #expect(
                first.error == "firstlight: resolved from now on: function [not recorded]\n")
            #expect(first.output.contains("not known yet"))
            let line = text(list)
            #expect(line.hasPrefix("{\"since\":\"20") && line.hasSuffix("recorded]\"}\n"))
            // A wrong name changes nothing.
            let wrong = try ran(words + ["library=nothing"])
            #expect(wrong.status == 1 && wrong.output.isEmpty)
            #expect(wrong.error.contains("nothing in these recordings is called 'nothing'"))
            #expect(text(list) == line)
        }
    }

    /// The file is the user's: lines are only added, and odd ones are reported.
    @Test func oddLines() throws {
        try withFolder { folder in
            let list = "\(folder)/list"
            let before = "# mine\nodd\n{\"since\":\"1970-01-01\",\"name\":\"[not recorded]\"}"
            put(before, list)
            let run = try ran(["top", folder, "--resolved", list])
            #expect(run.status == 0)
            #expect(run.error == "firstlight: \(list), line 2: '{' is missing; it is left out\n")
            #expect(run.output.contains("Back again"))
            let added = try ran(
                ["top", folder, "--resolved", list, "--resolve", "[not recorded]"])
            #expect(added.status == 0 && !added.output.contains("Back again"))
            #expect(text(list).hasPrefix(before + "\n{\"since\":\"20"))
            // The later line counts from now on.
            let again = try ran(["top", folder, "--resolved", list])
            #expect(!again.output.contains("Back again"))
        }
    }

    @Test func listsThatAreNoFiles() throws {
        try withFolder { folder in
            let run = try ran(["top", folder, "--resolved", folder])
            #expect(run.status == 1 && run.output.isEmpty)
            let full = try ran(
                ["top", folder, "--resolved", "/dev/full", "--resolve", "[not recorded]"])
            #expect(full.status == 1 && full.output.isEmpty)
        }
    }
}
