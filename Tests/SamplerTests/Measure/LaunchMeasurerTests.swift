import CSystem
import Glibc
import ProfileModel
import Readiness
import System
import TestSupport
import Testing

@testable import Launching
@testable import ProcessIO
@testable import Sampler

/// Real programs, launched in a process of the test's own.
@Suite struct LaunchMeasurerTests {
    private static let whole = [
        "Process creation", "Dynamic linking", "Static initialisers", "Main",
    ]

    @Test func aProgramManyTimes() async {
        await #expect(processExitsWith: .success) {
            let program = try MeasuredProgram(["/bin/true"])
            var descriptors: Set<Int> = []
            for _ in 0..<12 {
                let launch = try program.launch()
                let all = Comment("\(launch)")
                #expect(launch.phases.map(\.name) == Self.whole, all)
                #expect(launch.outcome == .exited(0) && launch.discarded == nil, all)
                // What our code takes of a phase is left out; a phase of some microseconds may have
                // used no more than that.
                #expect(launch.phases.allSatisfy { $0.cpu != nil }, all)
                #expect(launch.cpu.map { $0 > .zero } == true, all)
                #expect(launch.held > .zero && launch.mainBlocked != nil, all)
                #expect(launch.minorFaults.map { $0 > 10 && $0 < 1000 } == true, all)
                #expect(launch.majorFaults != nil && launch.readBytes != nil, all)
                descriptors.insert(Self.openDescriptors)
            }
            // No descriptor stays open, and no process is left.
            #expect(descriptors.count == 1)
            #expect(ProcessFiles(pid: getpid()).children?.isEmpty == true)
        }
    }

    private static var openDescriptors: Int {
        (0..<256).count { fcntl(Int32($0), F_GETFD) >= 0 }
    }

    /// Each exec is stopped once, and the images before the last are wrappers.
    @Test func programsThatExecuteOthers() async {
        await #expect(processExitsWith: .success) {
            let shell = try MeasuredProgram(["/bin/sh", "-c", "exec /usr/bin/env /bin/true"])
            for _ in 0..<3 {
                let finished = try shell.finish()
                let launch = MeasuredProgram.checked(finished.observed)
                let name = finished.observed.images[0].name
                #expect(
                    launch.phases.map(\.name)
                        == ["Process creation", "Wrapper: \(name)", "Wrapper: env"]
                        + Self.whole.dropFirst())
                #expect(launch.outcome == .exited(0))
                #expect(finished.observed.borders.count { $0.kind == .held } >= 5)
            }
        }
    }

    /// A search through PATH, and an exec that fails, do not count as images.
    @Test func execsThatFail() async {
        await #expect(processExitsWith: .success) {
            let program = try MeasuredProgram([
                "/bin/sh", "-c", "(exec /dev/null) 2>&-; exec /nonexistent/program 2>&-; exit 7",
            ])
            let launch = try program.launch()
            #expect(launch.phases.map(\.name) == Self.whole)
            if case .exited(let status) = launch.outcome { #expect(status != 0) }
        }
    }

    /// If a program's first launch starts no process, later launches are not watched for processes.
    @Test func processesThatAreStarted() async {
        await #expect(processExitsWith: .success) {
            let shell = try MeasuredProgram(["/bin/sh", "-c", "/bin/true; (:); /bin/true; :"])
            var counts: [String: Int] = [:]
            for _ in 0..<3 {
                let processes = try #require(try shell.launch().processes)
                let all = Comment("\(processes)")
                for process in processes {
                    counts[process.name] = max(counts[process.name] ?? 0, process.count)
                }
                #expect(processes.allSatisfy { $0.wall > .zero }, all)
                // Some kernels do not report the CPU time; reported times are never more than
                // possible.
                #expect(processes.allSatisfy { $0.cpu.map { $0 > .zero } ?? true }, all)
            }
            // In some hundred launches on a busy machine, the kernel did not report one process.
            #expect(counts == ["sh": 1, "true": 2], "\(counts)")
            let alone = try MeasuredProgram(["/bin/true"])
            #expect(try alone.launch().processes == [])
            #expect(try alone.launch().processes == nil)
        }
    }

    @Test func howProgramsEnd() async {
        await #expect(processExitsWith: .success) {
            let exits = try MeasuredProgram(["/bin/sh", "-c", "exit 3"])
            #expect(try exits.launch().outcome == .exited(3))
            let crashes = try MeasuredProgram(["/bin/sh", "-c", "kill -SEGV $$"])
            let launch = try crashes.launch()
            #expect(launch.outcome == .signalled(SIGSEGV) && launch.discarded == .failed)
            // Stopped and continued by its own child.
            let stops = try MeasuredProgram(["/bin/sh", "-c", "kill -STOP $$ & wait; exit 4"])
            stops.options.prepare = { pid in
                _ = startThread {
                    while kill(pid, 0) == 0 {
                        kill(pid, SIGCONT)
                        usleep(1000)
                    }
                }
            }
            #expect(try stops.launch().outcome == .exited(4))
        }
    }

    @Test func unstartableProgramsAreErrors() async {
        await #expect(processExitsWith: .success) {
            #expect(throws: SamplerError.programNotFound("/nonexistent/program")) {
                try MeasuredProgram(["/nonexistent/program"])
            }
            let scratch = try Scratch()
            let path = try scratch.write("#!/bin/sh\nexit 5\n", to: "script")
            let script = try MeasuredProgram([path])
            #expect(try script.launch().outcome == .exited(5))
            // It goes between two launches.
            remove(path)
            #expect(throws: SamplerError.programNotFound(path)) { try script.launch() }
            try scratch.write("#!/nonexistent/shell\n", to: "script")
            #expect(
                throws: SamplerError.interpreterMissing(path, interpreter: "/nonexistent/shell")
            ) { try script.launch() }
            #expect(ProcessFiles(pid: getpid()).children?.isEmpty == true)
        }
    }

    @Test func aProgramThatIsReadyAndGoesOn() async {
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let program = try MeasuredProgram([
                "/bin/sh", "-c", "sleep 1000 & echo ready; exec sleep 1000",
            ])
            program.options = LaunchOptions(until: [.output(text: "ready")])
            program.options.output = ends[1]
            for _ in 0..<3 {
                let finished = try program.finish()
                let launch = MeasuredProgram.checked(finished.observed)
                #expect(launch.readyBy == "output:ready" && launch.outcome == .running)
                #expect(launch.discarded == nil)
                let pid = try #require(finished.program)
                // Its child, too.
                let ended = program.end()
                #expect(ended.count == 2 && ended.contains(pid))
                #expect(kill(pid, 0) == -1 && errno == ESRCH)
                #expect(ProcessFiles(pid: getpid()).children?.isEmpty == true)
                var buffer = [UInt8](repeating: 0, count: 16)
                #expect(read(ends[0], &buffer, buffer.count) == 6)
            }
        }
    }

    /// The file is ours alone: the program's output goes there through a relay, which sees the
    /// moment.
    @Test func outputThatGoesToAFile() async {
        await #expect(processExitsWith: .success) {
            let file = fl_memory_file("output")
            #expect(file >= 0 && fcntl(file, F_SETFL, O_APPEND) == 0)
            let script = "test -p /proc/self/fd/1 && echo ready; exec sleep 1000"
            let program = try MeasuredProgram(["/bin/sh", "-c", script])
            program.options = LaunchOptions(
                until: [.output(text: "ready")], watchdog: .milliseconds(60_000))
            (program.options.output, program.options.error) = (file, file)
            let finished = try program.finish()
            #expect(MeasuredProgram.checked(finished.observed).readyBy == "output:ready")
            #expect(program.end() == [finished.program ?? -1])
            var buffer = [UInt8](repeating: 0, count: 16)
            #expect(pread(file, &buffer, buffer.count, 0) == 6)
        }
    }

    @Test func programsThatAreNeverReady() async {
        await #expect(processExitsWith: .success) {
            let ends = try MeasuredProgram(["/bin/true"])
            ends.options = LaunchOptions(until: [.notify])
            #expect(try ends.launch().discarded == .notReady)
            let hangs = try MeasuredProgram(["sleep", "1000"])
            hangs.options = LaunchOptions(watchdog: .milliseconds(300))
            let finished = try hangs.finish()
            let launch = MeasuredProgram.checked(finished.observed)
            #expect(launch.discarded == .hung && launch.outcome == .running)
            #expect(launch.wall >= .milliseconds(250))
            #expect(hangs.end() == [finished.program ?? -1])
        }
    }

    /// A process that loses its parent becomes our child.
    @Test func orphansAreAwaited() async {
        await #expect(processExitsWith: .success) {
            let program = try MeasuredProgram([
                "/bin/sh", "-c", "(sleep 1000 & exec sleep 1000) > /dev/null 2>&1 &",
            ])
            let finished = try program.finish()
            #expect(finished.observed.outcome == .exited(0) && finished.program == nil)
            #expect(program.end().count >= 1)
            #expect(ProcessFiles(pid: getpid()).children?.isEmpty == true)
        }
    }

    @Test func aNotificationWakesTheMeasurer() async {
        await #expect(processExitsWith: .success) {
            let script = """
                import os, socket, time
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
                    s.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"].replace("@", "\\0", 1))
                time.sleep(1000)
                """
            guard access("/usr/bin/python3", X_OK) == 0 else { return }
            let program = try MeasuredProgram(["/usr/bin/python3", "-c", script])
            program.options = LaunchOptions(until: [.notify], watchdog: .milliseconds(60_000))
            for _ in 0..<2 {
                let finished = try program.finish()
                #expect(MeasuredProgram.checked(finished.observed).readyBy == "notify")
                #expect(program.end() == [finished.program ?? -1])
            }
        }
    }

    @Test func idlenessIsSeenWithoutTracing() async {
        await #expect(processExitsWith: .success) {
            let program = try MeasuredProgram(["sleep", "1000"])
            program.options = LaunchOptions(
                until: [.idle(.milliseconds(20))], watchdog: .milliseconds(60_000))
            let finished = try program.finish()
            let launch = MeasuredProgram.checked(finished.observed)
            #expect(
                launch.readyBy == "idle:20ms" && launch.phases.last?.name == "Main", "\(launch)")
            let ended = program.end()
            #expect(ended == [finished.program ?? -1], "\(ended) \(finished)")
        }
    }

    @Test func conditionsThatNeedMoreThanBorders() async {
        await #expect(processExitsWith: .success) {
            let program = try MeasuredProgram(["/bin/true"])
            program.options = LaunchOptions(until: [.mark("x")])
            #expect(throws: SamplerError.self) { try program.launch() }
        }
    }

    /// The program asks to be traced, and is traced by the process that forked it.
    @Test func aProgramThatAsksToBeTraced() async {
        await #expect(processExitsWith: .success) {
            guard access("/usr/bin/python3", X_OK) == 0 else { return }
            let script = """
                import ctypes, os, signal
                ctypes.CDLL(None).ptrace(0, 0, 0, 0)
                signal.signal(signal.SIGUSR1, lambda *_: os._exit(9))
                os.kill(os.getpid(), signal.SIGUSR1)
                """
            let program = try MeasuredProgram(["/usr/bin/python3", "-c", script])
            #expect(try program.launch().outcome == .exited(9))
        }
    }
}

/// A program whose phases burn known amounts of CPU time.
@Suite(.enabled(if: MeasuredProgram.hasCompiler, "needs gcc"))
struct MeasuredPhaseTests {
    private static func check(_ flags: [String], _ names: [String]) throws {
        let scratch = try Scratch()
        let path = try MeasuredProgram.compile("static.c", in: scratch, flags)
        let program = try MeasuredProgram([path])
        setenv("FIRSTLIGHT_TRUTH", scratch.path("truth"), 1)
        for _ in 0..<2 {
            let launch = try program.launch()
            #expect(launch.phases.map(\.name) == names)
            let truth = MeasuredProgram.truth(
                MeasuredProgram.contents(of: scratch.path("truth")))
            for (phase, name) in [
                ("Static initialisers", "constructor_cpu"), ("Main", "burn_cpu"),
            ] {
                let burnt = try #require(truth[Substring(name)])
                let cpu = launch.phases.first { $0.name == phase }?.cpu?.nanoseconds ?? 0
                // Beside what burns there is little else: libraries, a line of output.
                #expect(cpu >= burnt - burnt / 100 && cpu <= burnt + burnt / 10 + 5_000_000)
            }
        }
    }

    @Test func dynamic() async {
        await #expect(processExitsWith: .success) {
            try Self.check(
                [], ["Process creation", "Dynamic linking", "Static initialisers", "Main"])
        }
    }

    @Test func staticallyLinked() async {
        await #expect(processExitsWith: .success) {
            try Self.check(["-static"], ["Process creation", "Static initialisers", "Main"])
        }
    }

    @Test func staticPIE() async {
        await #expect(processExitsWith: .success) {
            try Self.check(["-static-pie"], ["Process creation", "Static initialisers", "Main"])
        }
    }

    /// By the program's own clock, however late it is seen.
    @Test func untilASignpost() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let source = try scratch.write(
                """
                #include <firstlight/signpost.h>
                #include <unistd.h>
                static const firstlight_signposter posts = {"test", "launch"};
                int main(void) {
                    firstlight_emit_event(&posts, "early");
                    firstlight_emit_event(&posts, "shown");
                    for (;;) pause();
                }
                """, to: "posts.c")
            let path = scratch.path("posts")
            let folder = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
            let compiler = try Child([
                "gcc", "-O1", "-I\(folder)/Sources/CSignpost/include", "-o", path, source,
            ])
            try #require(compiler.end() == 0)
            // The last program of a chain, too.
            for command in [[path], ["/bin/sh", "-c", "exec \(path)"]] {
                let program = try MeasuredProgram(command)
                program.options = LaunchOptions(
                    until: [.signpost("shown")], watchdog: .milliseconds(60_000))
                // In some, main and the signpost come after a look has begun.
                for _ in 0..<50 {
                    let finished = try program.finish()
                    let launch = MeasuredProgram.checked(finished.observed)
                    #expect(launch.readyBy == "signpost:shown" && launch.discarded == nil)
                    #expect(launch.phases.last?.name == "Main" && launch.outcome == .running)
                    #expect(program.end() == [finished.program ?? -1])
                }
            }
        }
    }

    /// A program that uses only the kernel's calls: `main` is not reported.
    @Test func withoutACLibrary() async {
        await #expect(processExitsWith: .success) {
            let scratch = try Scratch()
            let source = try scratch.write(
                """
                void _start(void) {
                    __asm__ volatile("mov $60, %eax; mov $6, %edi; syscall");
                }
                """, to: "bare.c")
            let path = scratch.path("bare")
            let compiler = try Child(["gcc", "-nostdlib", "-static", "-o", path, source])
            try #require(compiler.end() == 0)
            let program = try MeasuredProgram([path])
            let launch = try program.launch()
            #expect(launch.outcome == .exited(6))
            #expect(launch.phases.map(\.name) == ["Process creation", "Main"])
        }
    }
}
