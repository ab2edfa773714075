import Analysis
import Exports
import MadeRecordings
import ProfileModel
import Report
import Testing

@Suite struct TextTests {
    private func text(
        _ recording: Recording, _ view: View = .full,
        _ change: (inout TextOptions) -> Void = { _ in }
    ) -> String {
        var options = TextOptions()
        change(&options)
        return TextReport.render(Profile(recording), view: view, options: options)
    }

    private func attached() -> (RecordingBuilder, ThreadIndex) {
        var builder = RecordingBuilder(attached: true, images: [("/home/dev/app", 0)])
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        builder.recording.header.outcome = .running
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        return (builder, main)
    }

    // MARK: Header

    @Test(arguments: [
        (Recording.Outcome.exited(0), "launched in", nil as String?),
        (.exited(3), "launched in", "exited with status 3"),
        (.signalled(11), "launched in", "killed by SIGSEGV (11)"),
        (.signalled(64), "launched in", "killed by signal 64"),
        (.running, "recorded for", "still running when the recording ended"),
        (.unknown, "recorded for", "recording cut short"),
    ])
    func outcomes(outcome: Recording.Outcome, verb: String, note: String?) {
        var recording = StarSearcher.recording()
        recording.header.outcome = outcome
        recording.header.heldByProfiler = .zero
        recording.images[0].arguments = ["StarSearcher"]
        let report = text(recording)
        #expect(report.hasPrefix("StarSearcher · \(verb) 2.512 s · CPU 2.15 s"))
        if let note {
            #expect(report.contains(outcome == .unknown ? "\n  \(note)" : " · \(note)"))
        } else {
            // The header is followed by the empty line before the table.
            #expect(report.contains("truncated\n\n"))
        }
    }

    /// The kernel runs a script's interpreter, and names the thread after the script.
    @Test(
        arguments: [
            ("http", ["/v/bin/python3", "/v/bin/http", "--version"], "http"),
            ("s.sh", ["/bin/sh", "./s.sh"], "s.sh"),
            (
                "a-very-long-nam", ["/bin/sh", "-e", "/x/a-very-long-name.sh"],
                "a-very-long-name.sh"
            ),
            ("python3", ["python3", "slow.py"], "python3"), ("sh", ["sh", "-c", "http"], "sh"),
            ("", ["python3"], "python3"),
        ] as [(String, [String], String)])
    func scriptsAreCalledByTheirNames(thread: String, arguments: [String], title: String) {
        var builder = RecordingBuilder(attached: true)
        builder.border(.attached, 0)
        builder.border(.ended, 1000)
        let main = builder.thread(thread, tid: 7, to: 1000, isMain: true)
        builder.recording.images = [
            Image(
                path: "/usr/bin/" + (arguments[0].split(separator: "/").last ?? ""),
                arguments: arguments, time: RecordingBuilder.at(0))
        ]
        builder.slice(main, at: 0, running: 1000, builder.stack("main"))
        let report = text(builder.recording)
        // The command line stands in the title, if the title is a word of it.
        let words = arguments.map { $0.split(separator: "/").last ?? "" }
        let place = words.firstIndex { $0 == title }
        let rest = place.map { arguments[($0 + 1)...].map { " " + $0 }.joined() } ?? ""
        #expect(report.hasPrefix("\(title)\(rest) · "))
        let command = "\n  command: \(arguments.joined(separator: " "))\n"
        #expect(report.contains(command) == (arguments.count > 1 && place == nil))
        let page = HTMLReport.render(Profile(builder.recording), sources: SourceLines()) { $0 }
        #expect(String(decoding: page, as: UTF8.self).contains("<title>\(title): "))
    }

    /// One place decides what a program is called.
    @Test func theTitleIsTheSameEverywhere() {
        var (builder, main) = attached()
        builder.recording.images = [
            Image(
                path: "/usr/bin/redis-server", arguments: ["renamed"], time: RecordingBuilder.at(0))
        ]
        builder.slice(main, at: 0, running: 1000, builder.stack("main"))
        let profile = Profile(builder.recording)
        #expect(text(builder.recording).hasPrefix("redis-server · "))
        #expect(JSONReport.text(profile).contains("\"program\":{\"name\":\"redis-server\""))
        let page = HTMLReport.render(profile, sources: SourceLines()) { $0 }
        #expect(String(decoding: page, as: UTF8.self).contains("<title>redis-server: "))
        for format in [ExportFormat.chrome, .firefox, .pprof, .speedscope, .svg] {
            let export = Export.render(profile, as: format, ExportOptions())
            #expect(String(decoding: export, as: UTF8.self).contains("redis-server"), "\(format)")
        }
    }

    @Test func attachedSaysSo() {
        let (builder, _) = attached()
        #expect(text(builder.recording).hasPrefix("app · attached for 1.000 s · CPU 0.0 ms · "))
    }

    @Test func lossesAreNamed() {
        var (builder, main) = attached()
        for index in 0..<100 as Range<Int64> {
            let reason: Truncation? = index < 3 ? .stackLimit : index < 4 ? .lost : nil
            builder.slice(main, at: index, running: 1, builder.stack("main"), truncation: reason)
        }
        builder.recording.header.lostSamples = 1
        (builder.recording.header.samples, builder.recording.header.missedSamples) = (900, 100)
        (builder.recording.header.ticks, builder.recording.header.missedTicks) = (800, 200)
        let report = text(builder.recording)
        #expect(report.contains("100 slices, 4.0 % truncated\n"))
        #expect(report.contains("  4 stacks truncated: 3 stack limit, 1 lost\n"))
        #expect(
            report.contains(
                "  1 stack lost, because the recorder could not keep up: times are exact\n"))
        #expect(report.contains("  10.0 % of the samples were missed: "))
        #expect(report.contains("  20.0 % of the looks at waits were missed: "))

        (builder.recording.header.missedSamples, builder.recording.header.missedTicks) = (9, 8)
        let better = text(builder.recording)
        #expect(!better.contains("samples were missed") && !better.contains("looks at waits"))
    }

    /// A longer copy would not help.
    @Test func splitStacksAreNamed() {
        for isSplit in [false, true] {
            var (builder, main) = attached()
            let stack = builder.stack(isSplit ? "__morestack" : "grow", "work")
            builder.slice(main, at: 0, running: 1, stack, truncation: .stackLimit)
            builder.recording.header.isAttached = false
            let summary = text(builder.recording, .summary)
            #expect(summary.contains("--stack-bytes") != isSplit, "\(summary)")
            let report = text(builder.recording) { $0.width = 200 }
            let line =
                "1 stack truncated: 1 stack limit (-fsplit-stack: they go on elsewhere)\n"
            #expect(report.contains(line) == isSplit, "\(report)")
        }
    }

    /// What ends stacks is named.
    @Test func missingUnwindTablesAreNamed() {
        var (builder, main) = attached()
        let library = RecordingBuilder.Spot(nil, "/lib/libc.so")
        let generated = RecordingBuilder.Spot(nil, "//anon")
        for (index, spot) in [library, generated, library].enumerated() {
            builder.slice(
                main, at: Int64(index), running: 1, builder.stack([spot]), truncation: .noRule)
        }
        let report = text(builder.recording) { $0.width = 200 }
        let line =
            "  3 stacks truncated: 3 no unwind information (no unwind tables in libc.so)\n"
        #expect(report.contains(line), "\(report)")
    }

    // MARK: Findings

    @Test func waitingPhaseIsCalledThat() {
        var (builder, main) = attached()
        let stack = builder.stack("main", "poll")
        builder.slice(main, at: 0, running: 100, stack)
        builder.slice(main, at: 100, blocked: 900, stack, call: 7)
        let report = text(builder.recording)
        #expect(
            report.contains(
                "Attached is waiting: its main thread was blocked for 900.0 ms of 1.00 s (90.0 %).")
        )
        #expect(report.contains("Attached: main thread blocked 900.0 ms (90.0 %), heaviest wait"))
        #expect(report.contains("[poll]"))
        #expect(!report.contains("no core"))
    }

    @Test func missingCoreIsNamedWithTheProfilersShare() {
        var (builder, main) = attached()
        builder.slice(
            main, at: 0, running: 800, runnable: 150, preempted: 50, builder.stack("main"))
        let finding = "Attached: its main thread had no core for 200.0 ms (20.0 %)"
        #expect(text(builder.recording).contains(finding + "."))
        builder.recording.header.heldByProfiler = .milliseconds(30)
        let report = text(builder.recording) { $0.width = 200 }
        #expect(report.contains(finding + ", up to 30.0 ms of it for the profiler's own stops."))
    }

    @Test(
        arguments: [
            (3, 12_288, true), (1, 4096, true), (1, 0, false), (0, 4096, false), (3, nil, false),
            (nil, 4096, false),
        ] as [(Int64?, Int64?, Bool)])
    func coldnessIsClaimedWhereBytesWereRead(faults: Int64?, bytes: Int64?, isCold: Bool) {
        var builder = RecordingBuilder(attached: true, images: [("/home/dev/app", 0)])
        builder.border(.attached, 0, ProcessCounters(majorFaults: 0, readBytes: 0))
        builder.border(.ended, 1000, ProcessCounters(majorFaults: faults, readBytes: bytes))
        let main = builder.thread("app", tid: 7, to: 1000, isMain: true)
        let stack = builder.stack("_start", "main", "touch")
        builder.slice(main, at: 0, running: 700, stack)
        builder.slice(main, at: 700, blocked: 300, stack, call: -1)
        builder.wait(main, from: 700, to: 990, WaitReason(.disk), stack)
        let report = text(builder.recording)
        #expect(report.contains("(a cold launch)") == isCold)
        #expect(report.contains("→ A cold launch: touch less code") == isCold)
        #expect(report.contains("→ Touch less code") == !isCold)
    }

    @Test func shortWaitsAreNotDwelledOn() {
        var (builder, main) = attached()
        builder.slice(main, at: 0, running: 950, builder.stack("main"))
        builder.slice(main, at: 950, blocked: 50, builder.stack("main"), call: 7)
        #expect(!text(builder.recording).contains("heaviest wait"))
    }

    @Test func mainThreadsStackIsShownBesideAHeavierOne() {
        var (builder, main) = attached()
        let worker = builder.thread("worker", tid: 8, to: 1000)
        builder.slice(main, at: 0, running: 300, builder.stack("main", "prewarm"))
        builder.slice(main, at: 300, blocked: 700, builder.stack("main", "join"), call: 202)
        builder.slice(worker, at: 0, running: 900, builder.stack("start", "crunch"))
        let report = text(builder.recording)
        #expect(report.contains("Attached: heaviest stack"))
        #expect(report.contains("Attached: main thread's heaviest stack"))
        #expect(report.contains("heaviest wait"))
        // The worker's is the heaviest: it is not shown twice.
        #expect(!report.contains("meanwhile"))
    }

    // MARK: Width, colour, names

    @Test(arguments: [60, 72, 80, 99, 100, 131], View.allCases)
    func keepsToTheWidth(width: Int, view: View) {
        var recordings = [StarSearcher.recording(), RecordingBuilder.random(seed: 5)]
        for index in recordings.indices {
            for thread in recordings[index].threads.indices {
                recordings[index].threads[thread].name += String(repeating: "long name ", count: 20)
            }
            let long = String(repeating: "ns::", count: 70) + "星星 function<int>()"
            for (address, frames) in recordings[index].symbols.frames {
                recordings[index].symbols.frames[address] = frames.map {
                    var frame = $0
                    frame.function = long + (frame.function ?? "")
                    return frame
                }
            }
            for line in text(recordings[index], view, { $0.width = width }).split(separator: "\n") {
                #expect(String(line).displayWidth <= width, "\(line)")
                #expect(line.last != " ", "\(line)")
            }
        }
    }

    /// Without imports there is nothing to colour, and notes are sentences.
    @Test(arguments: View.allCases.filter { ![.imports, .notes].contains($0) })
    func coloursOnlyOnRequest(view: View) {
        let recording = StarSearcher.recordingWithFacts()
        let plain = text(recording, view)
        let coloured = text(recording, view) { $0.usesColour = true }
        #expect(!plain.contains("\u{1b}"))
        #expect(coloured.contains("\u{1b}[1m"))
        #expect(coloured.replacing(#/\u{1b}\[[0-9;]*m/#, with: "") == plain)
    }

    @Test(arguments: View.allCases)
    func hostileNamesReachNoTerminal(view: View) {
        let hostile = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}x\r\ny\u{2066}"
        var builder = RecordingBuilder(images: [("/bin/" + hostile, 1), ("/home/" + hostile, 2)])
        builder.border(.spawned, 0)
        builder.border(.firstInstruction, 1)
        builder.border(.firstInstruction, 200)
        builder.border(.ended, 1000, ProcessCounters(majorFaults: 3))
        let main = builder.thread(hostile, tid: 7, to: 1000, isMain: true)
        let worker = builder.thread(hostile, tid: 8, to: 1000)
        builder.wait(
            main, from: 300, to: 900, WaitReason(.file, detail: "/" + hostile, owner: 8), call: 0)
        let stack = builder.stack([
            .init(hostile, "/home/" + hostile, file: hostile, line: 1),
            .init(nil, "/lib/" + hostile),
        ])
        builder.slice(main, at: 0, running: 300, stack)
        builder.slice(main, at: 300, blocked: 700, stack, call: 1)
        builder.slice(worker, at: 0, running: 900, builder.stack("other"))
        let report = text(builder.recording, view) {
            $0.selection = Selection(phases: [0, 1, 2], threads: [0, 1])
            $0.width = 400
        }
        #expect(report.contains("\\u{1b}]0;owned"))
        for line in report.split(separator: "\n") {
            #expect(String(line).escapedForDisplay == line)
        }
    }

    // MARK: Stacks and trees

    @Test func deepStacksKeepTheirOwnCode() {
        var (builder, main) = attached()
        let system = (0..<30).map { RecordingBuilder.Spot("event\($0)", "/usr/lib/libloop.so") }
        let stack = builder.stack(
            [.init("main")] + system + [.init("onEvent")] + system + [.init("work")])
        builder.slice(main, at: 0, running: 1000, stack)
        let report = text(builder.recording)
        for name in ["● main", "● onEvent", "● work"] { #expect(report.contains(name)) }
        #expect(report.contains("… 29 frames"))
        #expect(report.contains("… 24 frames"))
        #expect(report.split(separator: "\n").count < 24)
    }

    @Test func stackEndsWhereTheRestIsNoise() {
        var (builder, main) = attached()
        builder.slice(main, at: 0, running: 995, builder.stack("main", "busy"))
        builder.slice(main, at: 995, running: 5, builder.stack("main", "busy", "speck"))
        #expect(!text(builder.recording).contains("speck"))
        #expect(text(builder.recording, .tree) { $0.minPercent = 0.5 }.contains("speck"))
        #expect(!text(builder.recording, .tree).contains("speck"))
        #expect(!text(builder.recording, .tree) { $0.depth = 1 }.contains("busy"))
    }

    @Test func nothingRecordedIsSaid() {
        let (builder, _) = attached()
        for view in [View.tree, .bottomUp, .heaviest] {
            #expect(text(builder.recording, view).contains("nothing recorded here"))
        }
    }

    @Test func selectionIsNamed() throws {
        let recording = StarSearcher.recording()
        let selection = try Profile(recording).selection(phase: "Main", thread: "4242")
        for view in View.allCases where view != .modules {
            let report = text(recording, view) { $0.selection = selection }
            #expect(report.contains("  only phase Main · thread star loader (4242)\n"))
            #expect(!report.contains("logger"))
        }
    }

    @Test func sameBytesEveryTime() {
        for seed in 60...64 as ClosedRange<UInt64> {
            let recording = RecordingBuilder.random(seed: seed)
            for view in View.allCases {
                #expect(text(recording, view) == text(recording, view))
            }
            #expect(JSONReport.text(Profile(recording)) == JSONReport.text(Profile(recording)))
        }
    }
}
