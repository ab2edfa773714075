import Glibc
import ProfileModel
import Recorder
import Sampler
import Symbolicate
import Testing

@testable import ProfileCLI

@Suite struct LiveLineTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private func text(_ events: [SamplerEvent]) -> String {
        var progress = RecordingProgress()
        for event in events { progress.note(event) }
        return RecordingLine.text(progress, at: Self.time(2_340))
    }

    private static func border(_ kind: LaunchBorder.Kind, at milliseconds: Int64) -> SamplerEvent {
        .border(LaunchBorder(kind: kind, time: time(milliseconds)))
    }

    private static let thread = SamplerEvent.threadStarted(
        RecordedThread(tid: 7, name: "app", start: time(1_001), isMain: true))

    @Test func aLaunch() {
        var events = [SamplerEvent.began(pid: 7)]
        #expect(text(events) == "firstlight: Process creation, 0 threads, 0 samples")
        let steps: [(LaunchBorder.Kind, String)] = [
            (.spawned, "Process creation"), (.firstInstruction, "running"),
            (.watched, "before main"), (.relocated, "Static initialisers"),
            (.watched, "Static initialisers"), (.main, "Main"), (.firstInstruction, "running"),
            (.ended, "the end"),
        ]
        for (number, (kind, phase)) in steps.enumerated() {
            events.append(Self.border(kind, at: 1_000 + Int64(number)))
            #expect(text(events) == "firstlight: \(phase), 1.3 s, 0 threads, 0 samples")
        }
    }

    @Test func threadsThatLive() {
        let events = [
            SamplerEvent.began(pid: 7), Self.border(.attached, at: 1_000), Self.thread, Self.thread,
            .threadEnded(ThreadIndex(0), Self.time(1_002)),
        ]
        #expect(text(events) == "firstlight: Attached, 1.3 s, 1 thread, 0 samples")
        let ready = SamplerEvent.ready(Readiness(time: Self.time(1_100), by: "notify"))
        #expect(text(events + [ready]) == "firstlight: Extended, 1.3 s, 1 thread, 0 samples")
    }

    /// A process that has ended, or is about to, has closed its files: nothing shows that it did not write
    /// to the terminal. A process whose output goes elsewhere did not.
    @Test func aProgramThatIsOverMayHaveTheTerminal() throws {
        let terminal = dev_t(4 << 8 | 1)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
        var pid: pid_t = 0
        let words = [strdup("sleep"), strdup("1000"), nil]
        defer { words.forEach { free($0) } }
        try #require(posix_spawnp(&pid, "sleep", &actions, nil, words, environ) == 0)
        #expect(!OutputPlace.mayBe(terminal, of: pid))
        kill(pid, SIGKILL)
        var info = siginfo_t()
        try #require(waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0)
        #expect(OutputPlace.mayBe(terminal, of: pid))
        waitpid(pid, nil, 0)
        #expect(OutputPlace.mayBe(terminal, of: pid))
    }

    @Test func noTerminalNoLine() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let line = LiveLine(on: ends[1])
        #expect(!line.isVisible)
        line.show("x")
        line.wipe()
        #expect(RecordingLine(line, isForced: true) == nil)
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    /// The two sides of a terminal: the screen, and the programs' side.
    private func terminal() throws -> (screen: Int32, user: Int32) {
        let screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var locked: CInt = 0
        var number: CInt = 0
        // TIOCSPTLCK and TIOCGPTN, which the module lacks (<asm-generic/ioctls.h>).
        try #require(screen >= 0 && ioctl(screen, 0x4004_5431, &locked) == 0)
        try #require(ioctl(screen, 0x8004_5430, &number) == 0)
        let user = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(user >= 0)
        return (screen, user)
    }

    /// Waits until so many bytes were shown.
    private func shown(on screen: Int32, _ count: Int) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let more = bytes.withUnsafeMutableBytes {
                read(screen, $0.baseAddress?.advanced(by: filled), count - filled)
            }
            guard more > 0 else { break }
            filled += more
        }
        return String(decoding: bytes.prefix(filled), as: UTF8.self)
    }

    @Test func isWrittenInPlaceAndWiped() throws {
        let (screen, user) = try terminal()
        defer {
            close(screen)
            close(user)
        }
        let console = Console(output: user, error: user)
        let line = LiveLine(on: user, isDumb: false)
        line.wipe()
        line.show("one\u{1b}\n")
        line.show(String(repeating: "x", count: 100))
        line.wipe()
        line.wipe()
        try console.write("end")
        let wide = String(repeating: "x", count: 46) + "…" + String(repeating: "x", count: 32)
        let expected = "\rone\\u{1b}\\u{a}\u{1b}[K\r\(wide)\u{1b}[K\r\u{1b}[Kend"
        #expect(shown(on: screen, expected.utf8.count) == expected)
        #expect(!LiveLine(on: user, isDumb: true).isVisible)
    }

    /// As after Ctrl-S.
    @Test(.timeLimit(.minutes(1))) func aStoppedTerminalIsNotWaitedFor() throws {
        let (screen, user) = try terminal()
        defer {
            close(screen)
            close(user)
        }
        #expect(tcflow(user, TCOOFF) == 0)
        let line = LiveLine(on: user, isDumb: false)
        for number in 0..<10_000 { line.show("\(number)") }
        line.wipe()
        // Only ours does not wait.
        #expect(fcntl(user, F_GETFL) & O_NONBLOCK == 0)
    }

    /// The step ends when its text has been seen.
    @Test(.timeLimit(.minutes(1))) func aSlowStepSaysWhatItIsAt() throws {
        let (screen, user) = try terminal()
        defer {
            close(screen)
            close(user)
        }
        let line = LiveLine(on: user, isDumb: false)
        let stage = Stage<Int?>(nil)
        SlowStep.run(on: line, { stage.value.map { "step \($0)" } }) {
            stage.value = 7
            #expect(shown(on: screen, 10) == "\rstep 7\u{1b}[K")
        }
        // A busy machine may have let it write again.
        var rest = ""
        while !rest.hasSuffix("\r\u{1b}[K") { rest += shown(on: screen, 1) }
    }

    @Test func modulesThatAreLookedUp() {
        var lookups = Lookups()
        #expect(lookups.text == nil)
        func note(_ name: String, _ isDone: Bool) {
            lookups.note(
                Symbolicator.Progress(
                    module: Module(path: "/lib/" + name, buildID: []), isDone: isDone, count: 3))
        }
        note("a", false)
        note("b", false)
        let start = "firstlight: looking up functions"
        #expect(lookups.text == start + ", 0 of 3 modules done, now a, b")
        note("b", true)
        note("c", false)
        #expect(lookups.text == start + ", 1 of 3 modules done, now a, c")
        note("c", true)
        note("a", true)
        #expect(lookups.text == start + ", 3 of 3 modules done")
    }

    /// The step's result and its errors come through, and its thread has ended.
    @Test func aStepThatNobodySees() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let line = LiveLine(on: ends[1])
        #expect(SlowStep.run(on: line, { "x" }) { 3 } == 3)
        #expect(throws: CancellationError.self) {
            try SlowStep.run(on: line, { "x" }) { throw CancellationError() }
        }
        close(ends[0])
        close(ends[1])
    }
}
