import Analysis
import Glibc
import ProfileCLI
import ProfileModel
import Recording
import Testing

@Suite struct HistoryOptionTests {
    private func options(_ line: String) throws -> HistoryOptions {
        try HistoryOptions(try #require(parsedArguments(line)))
    }

    @Test func showing() throws {
        guard case .show(let usual) = try options("history a b") else {
            Issue.record("not shown")
            return
        }
        #expect(usual.sources == ["a", "b"] && usual.grouping == .version && usual.goal == nil)
        #expect(usual.format == .text && usual.output == nil && !usual.showsTimings)
        let line = "history --by day --goal 400ms --format html -o x --timings a"
        guard case .show(let full) = try options(line) else {
            Issue.record("not shown")
            return
        }
        #expect(full.grouping == .day && full.goal == .milliseconds(400))
        #expect(full.format == .html && full.output == "x" && full.showsTimings)
    }

    @Test func adding() throws {
        guard case .add(let files, let folder) = try options("history --add a --to d --add b")
        else {
            Issue.record("not added")
            return
        }
        #expect(files == ["a", "b"] && folder == "d")
    }

    @Test(arguments: [
        ("history", "history: no folder or file given; see 'firstlight help history'"),
        ("history --to d a", "history: --to goes with --add only"),
        ("history --add a", "history: --add needs the folder: --to DIR"),
        (
            "history --add a --to d b",
            "history: 'b' does not go with --add, which shows nothing; each file needs an --add"
        ),
        (
            "history --add a --to d --goal 1s",
            "history: --goal does not go with --add, which shows nothing"
        ),
    ]) func usageErrors(line: String, message: String) throws {
        let error = #expect(throws: UsageError.self) { _ = try options(line) }
        #expect(error?.description == message)
        #expect(error?.exitStatus == 2)
    }

    @Test(arguments: ["--by week a", "--goal 0 a", "--goal 5 a", "--format csv a"])
    func wrongValues(words: String) throws {
        #expect(try run(["history"] + words.split(separator: " ").map(String.init)).status == 2)
    }

    private func save(_ path: String, version: String, milliseconds: Int64, day: Int64) throws {
        let measurement = Measurement(
            header: .init(
                requested: 3, versionName: version, recorderVersion: "0.1.0",
                date: day * 86_400_000_000_000),
            arms: [MeasuredArm(command: ["app"], path: "/bin/app")],
            conditions: MeasuredConditions(),
            machine: MeasuredMachine(
                host: "here", kernel: "6", architecture: "x86_64", processor: "any", cores: 2,
                memory: 1 << 30))
        let writer = try MeasurementWriter(creating: path, measurement)
        for number in 0..<3 {
            try writer.append(
                MeasuredLaunch(
                    arm: 0, start: .milliseconds(Int64(number) * 1000),
                    wall: .milliseconds(milliseconds + Int64(number)), outcome: .exited(0)))
        }
        try writer.finish(.complete)
    }

    /// The path of a folder that is removed afterwards.
    private func withFolder(_ body: (String) throws -> Void) throws {
        try withFile { path in
            #expect(mkdir(path, 0o700) == 0)
            defer {
                for name in files(in: path) { unlink("\(path)/\(name)") }
                rmdir(path)
            }
            try body(path)
        }
    }

    private func files(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    @Test func aFolderIsKept() throws {
        try withFolder { folder in
            let kept = folder + "/kept"
            let one = folder + "/one.firstlight"
            try save(one, version: "a/../b\u{1b}", milliseconds: 10, day: 20_000)
            let added = try run(["history", "--add", one, "--to", kept])
            #expect(added.status == 0 && added.error == "")
            #expect(added.output.hasPrefix("added \(one) as \(kept)/2024-10-04T000000Z-a_.._b_-"))
            let again = try run(["history", "--add", one, "--to", kept])
            #expect(again.status == 0)
            #expect(again.output.hasPrefix("\(one) is already there as \(kept)/2024-10-04T"))
            #expect(files(in: kept).count == 1)
            let shown = try run(["history", "--goal", "20ms", kept])
            #expect(shown.status == 0 && shown.error == "")
            #expect(shown.output.contains("a/../b\\u{1b}"))
            #expect(shown.output.contains("goal 20.00 ms: met by"))
            #expect(unlink("\(kept)/\(files(in: kept)[0])") == 0)
            #expect(rmdir(kept) == 0)
        }
    }

    @Test func otherFilesAreNotAdded() throws {
        try withFolder { folder in
            let text = folder + "/text"
            let descriptor = open(text, O_WRONLY | O_CREAT, 0o600)
            #expect(write(descriptor, "hello", 5) == 5)
            close(descriptor)
            let finished = try run([
                "history", "--add", text, "--add", folder + "/none", "--to", folder + "/kept",
            ])
            #expect(finished.status == 1 && finished.output == "")
            #expect(finished.error.split(separator: "\n").count == 2)
            #expect(finished.error.contains("\(text): not a Firstlight measurement"))
            #expect(files(in: folder) == ["text"])
        }
    }

    /// Each broken file is reported in a line; the rest is shown.
    @Test func brokenFilesDoNotHideTheRest() throws {
        try withFolder { folder in
            try save(folder + "/1.firstlight", version: "1", milliseconds: 10, day: 1)
            try save(folder + "/2.firstlight", version: "2", milliseconds: 11, day: 2)
            #expect(truncate(folder + "/2.firstlight", 9_000) == 0)
            for (name, content) in [("3.firstlight", "no"), ("4.firstlight", ""), ("5.txt", "x")] {
                let descriptor = open(folder + "/" + name, O_WRONLY | O_CREAT, 0o600)
                #expect(write(descriptor, content, content.utf8.count) == content.utf8.count)
                close(descriptor)
            }
            let finished = try run(["history", folder])
            #expect(finished.status == 1)
            #expect(finished.output.contains("1 version"))
            let lines = finished.error.split(separator: "\n")
            #expect(lines.count == 3)
            for (line, name) in zip(lines, ["2", "3", "4"]) {
                #expect(line.hasPrefix("firstlight: \(folder)/\(name).firstlight: "), "\(line)")
            }
            let json = try run(["history", "--format", "json", folder])
            #expect(json.status == 1)
            #expect(json.output.contains("\"leftOut\":[\n{\"file\":\"\(folder)/2.firstlight\""))
        }
    }

    @Test func nothingToShow() throws {
        try withFolder { folder in
            let empty = try run(["history", folder])
            #expect(empty.status == 1 && empty.output == "")
            #expect(empty.error.contains("no measurement (*.firstlight) there"))
            let none = try run(["history", folder + "/none"])
            #expect(none.status == 1 && none.output == "")
        }
    }
}
