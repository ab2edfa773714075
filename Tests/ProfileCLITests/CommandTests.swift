import Glibc
import ProfileCLI
import ProfileModel
import Recording
import Report
import Sampler
import Testing

/// `report` and `fold` from the command line to the printed text, on a recording made by hand.
@Suite struct CommandTests {
    /// Calls `body` with the path of a recording: 30 ms in `main`, 20 of them on a core.
    private func withRecording(_ body: (String) throws -> Void) throws {
        try withFile { path in
            try write(to: path)
            try body(path)
        }
    }

    private func write(to path: String) throws {
        func time(_ milliseconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds)
        }
        var header = Recording.Header(
            pid: 42, isAttached: false, capture: .ptrace, frequency: 1_000)
        header.outcome = .exited(0)
        let writer = try RecordingWriter(creating: path, header: header)
        try writer.append(Image(path: "/home/me/app", arguments: ["app"], time: time(1)))
        try writer.append(LaunchBorder(kind: .spawned, time: time(0)))
        try writer.append(LaunchBorder(kind: .firstInstruction, time: time(1)))
        try writer.append(LaunchBorder(kind: .main, time: time(2)))
        try writer.append(LaunchBorder(kind: .ended, time: time(32)))
        try writer.append(
            RecordedThread(tid: 42, name: "app", start: time(0), end: time(32), isMain: true))
        let module = try writer.append(Module(path: "/home/me/app"))
        let frame = FrameAddress(module: module, address: CodeAddress(0x1234, .instruction))
        var stacks = StackTable()
        let stack = stacks.intern(parent: nil, frame: frame)
        try writer.append(newNodesOf: stacks)
        let times = StateTimes(running: .milliseconds(20), blocked: .milliseconds(10))
        try writer.append(
            Slice(
                thread: ThreadIndex(0), start: time(0),
                times: StateTimes(running: .milliseconds(2)), stack: nil))
        try writer.append(
            Slice(
                thread: ThreadIndex(0), start: time(2), times: times, stack: stack, systemCall: 35))
        for (name, start, end) in [("load", 12, 22), ("draw", 22, 32)] as [(String, Int64, Int64)] {
            try writer.append(
                Interval(
                    name: name, category: "work", thread: ThreadIndex(0), start: time(start),
                    end: time(end)))
        }
        try writer.append(
            Signpost(name: "tap", category: "work", thread: nil, time: time(15)))
        try writer.finish(header)
        var symbols = SymbolTable()
        symbols.frames[frame] = [
            SourceFrame(function: "compute", file: "app.c", line: 7, isInlined: false)
        ]
        try RecordingFile.store(symbols, in: path)
    }

    /// Of a recording that was not symbolicated when it was made, for its recorder was killed, the
    /// report finds out all that symbolication does.
    @Test func aKilledRecordersRecordingIsSymbolicatedForTheReport() throws {
        let library = try #require(realpath("/proc/self/exe", nil))
        defer { free(library) }
        let path = String(cString: library)
        try withFile { file in
            let start = MonotonicTime(nanoseconds: 1)
            let header = Recording.Header(
                pid: 42, isAttached: false, capture: .untraced, frequency: 1_000)
            let writer = try RecordingWriter(creating: file, header: header)
            let module = try writer.append(Module(path: path))
            try writer.append(Mapping(start: 0, end: 1, bias: 0, module: module, time: start))
            try writer.append(LibraryLoad(path: path, start: start, size: 1, isInitial: true))
            try writer.finish(header)
            let run = try run(["report", file, "--format", "json"])
            #expect(run.status == 0)
            #expect(run.output.contains("\"referenced\":false"), "\(run)")
        }
    }

    @Test func reports() throws {
        try withRecording { path in
            for view in View.allCases {
                let run = try run(["report", path, "--view", view.rawValue])
                #expect(run.status == 0)
                #expect(run.error.isEmpty)
                #expect(run.output.contains("app"), "\(view)")
                // No terminal, no colours.
                #expect(!run.output.contains("\u{1B}"))
            }
            let json = try run(["report", "--format", "json", path])
            #expect(json.status == 0)
            #expect(json.output.hasPrefix("{\"schema\":2"))
            #expect(json.output.contains("\"compute\""))
        }
    }

    @Test func folds() throws {
        try withRecording { path in
            let full = try run(["fold", path, "--phase", "main"])
            #expect(full.output == "Main;app/42;compute 20000\n")
            let bare = try run(["fold", path, "--phase", "main", "--no-phase", "--no-thread"])
            #expect(bare.output == "compute 20000\n")
            let blocked = try run(["fold", path, "--weight", "blocked", "--no-thread"])
            #expect(blocked.output.hasPrefix("Main;compute;"))
            #expect(blocked.output.hasSuffix(" 10000\n"))
        }
    }

    @Test func intervals() throws {
        try withRecording { path in
            let words = ["--no-phase", "--no-thread", "--interval"]
            // A third of the slice's 20 ms each, rounded once.
            let load = try run(["fold", path] + words + ["load"])
            #expect(load.output == "compute 6667\n")
            let draw = try run(["fold", path] + words + ["DR"])
            #expect(draw.output == "compute 6667\n")
            let tree = try run(["report", path, "--view", "tree", "--interval", "load"])
            #expect(tree.output.contains("only interval load"))
            #expect(tree.output.contains("6.7 ms"))
        }
    }

    @Test func wrongNamesAndFiles() throws {
        try withRecording { path in
            let interval = try run(["fold", path, "--interval", "warmup"])
            #expect(interval.status == 1)
            #expect(
                interval.error
                    == "firstlight: no interval 'warmup' in this recording; it has: load, draw\n")
            let event = try run(["report", path, "--interval", "tap"])
            #expect(event.status == 1)
            #expect(event.error.hasPrefix("firstlight: 'tap' is an event"))
            let phase = try run(["report", path, "--phase", "warmup"])
            #expect(phase.status == 1)
            #expect(phase.output.isEmpty)
            #expect(phase.error.hasPrefix("firstlight: no phase 'warmup' in this recording"))
            #expect(phase.error.hasSuffix("\n") && phase.error.split(separator: "\n").count == 1)
            let thread = try run(["fold", path, "--thread", "7"])
            #expect(thread.status == 1)
        }
        let missing = try run(["report", "/none/a"])
        #expect(missing.status == 1)
        #expect(missing.error == "firstlight: /none/a: cannot open: No such file or directory\n")
        let other = try run(["fold", "/dev/null"])
        #expect(
            other.error == "firstlight: /dev/null: is a device, and a recording must be a "
                + "regular file\n")
        let usage = try run(["record", "-F", "0", "ls"])
        #expect(usage.status == 125)
        #expect(usage.error.hasPrefix("firstlight: record: invalid frequency '0'"))
    }
}
