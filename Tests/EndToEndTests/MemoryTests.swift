import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// How much memory a program may have, and how it may use it.
    @Suite struct Memory {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// No more memory is locked than without recording, although the program locks all that is
        /// mapped.
        @Test(arguments: [[], ["number"]])
        func noOtherMemoryIsLocked(words: [String]) throws {
            let locked = Command([try Setup.fixture("locked")] + words)
            let alone = try locked.run()
            try #require(alone.status == 0, "\(alone)")
            let recorded = try Firstlight.recording(locked.words, to: scratch("recording")).run()
            #expect(recorded == alone)
        }

        /// Our memory counts towards no limit: locking all memory fails only where it fails without
        /// recording.
        @Test(.needs("setpriv"), arguments: [(2000, 1), (6000, 0)])
        func aLimitOfLockedMemory(kibibytes: Int, status: Int32) throws {
            // The superuser has no such limit.
            let lesser = geteuid() == 0 ? ["setpriv", "--bounding-set", "-ipc_lock"] : []
            let locked = Command(
                lesser + ["sh", "-c", "ulimit -l \(kibibytes); exec \"$0\""]
                    + [try Setup.fixture("locked")])
            let alone = try locked.run()
            try #require(alone.end == .exited(status), "\(alone)")
            let recorded = try Firstlight.recording(locked.words, to: scratch("recording")).run()
            #expect(recorded == alone)
        }

        /// The same if we attach later, to a program that locks all future mappings.
        @Test func nothingOfOursIsLockedWhenWeAttach() throws {
            let (input, output) = (try Channel(), try Channel())
            var command = Command([try Setup.fixture("locked"), "wait"])
            (command.input, command.output) = (.descriptor(input.reader), output.writer)
            let program = try command.start()
            output.closeWriter()
            let before = try #require(try output.line())
            #expect(try output.line() == "ready")
            let caught = Proc.status(program.pid, "SigCgt")
            let recorder = try Firstlight.command(
                ["attach", "--quiet", "-o", scratch("recording"), "\(program.pid)"]
            ).start()
            // Our parts count for the moments until they are unlocked. Our handler comes last.
            try Proc.waitUntil("the area is there, and not locked") {
                Proc.contents("/proc/\(program.pid)/maps")?.contains("memfd:firstlight") == true
                    && Proc.status(program.pid, "SigCgt") != caught
                    && Proc.contents("/proc/\(program.pid)/status")?.contains(before) == true
            }
            try input.write(".")
            #expect(try output.line() == before)
            kill(recorder.pid, SIGINT)
            #expect(try recorder.finish().status == 0)
            try input.write(".")
            #expect(try output.line() == before)
            input.closeWriter()
            #expect(try program.finish().status == 0)
        }

        /// A limit of the address space hardly larger than the program needs.
        @Test(.needs("python3")) func aLimitThatComesLater() throws {
            let script = """
                import mmap, resource
                size = next(int(line.split()[1]) << 10 for line in open("/proc/self/status")
                    if line.startswith("VmSize:"))
                resource.setrlimit(resource.RLIMIT_AS, (START + (40 << 20),) * 2)
                mmap.mmap(-1, 24 << 20)
                """
            func python(_ start: String) -> [String] {
                ["python3", "-c", script.replacing("START", with: start)]
            }
            // The limit is what the program needs without recording, also with recording.
            let tell = python("(print(size), size)[1]")
            let alone = try Command(tell).run()
            try #require(alone.status == 0, "\(alone)")
            let size = alone.output.prefix { $0.isNumber }
            let recorded = try Firstlight.recording(
                python("\(size)"), to: scratch("recording")
            ).run()
            #expect(recorded == Finished(end: .exited(0), output: "", error: ""))
        }

        /// A core dump contains nothing of our area: at most code of the C library that we have
        /// changed.
        @Test(
            .enabled(if: Proc.contents("/proc/sys/kernel/core_pattern")?.hasPrefix("core") == true),
            arguments: ["signal", "ptrace"])
        func cores(capture: String) throws {
            func core(_ words: [String]) throws -> Int {
                var command = Command(words)
                command.directory = scratch.folder
                _ = try command.run()
                let files = try FileManager.default.contentsOfDirectory(atPath: scratch.folder)
                let name = try #require(files.first { $0.hasPrefix("core") })
                defer { try? FileManager.default.removeItem(atPath: scratch(name)) }
                let status = try FileManager.default.attributesOfItem(atPath: scratch(name))
                return try #require(status[.size] as? Int)
            }
            let words = ["sh", "-c", "ulimit -c unlimited; kill -ABRT $$"]
            let alone = try core(words)
            let recorded = try core(
                Firstlight.recording(
                    words, to: scratch("recording"), options: ["--quiet", "--capture", capture]
                ).words)
            #expect(recorded < alone + (4 << 20))
        }

        /// LeakSanitizer makes a process that stops all threads by ptrace. It fails if another
        /// process traces them.
        @Test(
            arguments: ["leaking", "leaked"],
            [
                [], ["--capture", "ptrace"], ["--follow-children"],
                ["--follow-children", "--capture", "ptrace"], ["--mark", "lose=lose.."],
            ])
        func leaksAreFoundAsAlone(program: String, options: [String]) throws {
            let leaking = Command([try Setup.fixture(program), "echo a child"])
            let alone = try leaking.run()
            #expect(alone.error.contains("4711 byte"), "\(alone)")
            let path = scratch("recording")
            let recorded = try Firstlight.recording(
                leaking.words, to: path, options: ["--quiet"] + options
            ).run()
            #expect(recorded.end == alone.end && recorded.output == alone.output)
            #expect(recorded.error.withoutNumbers == alone.error.withoutNumbers)
            let report = try Recorded(path: path, finished: recorded).json()
            let isNoted = report.launch.notes.contains { $0.kind == "leak_sanitizer" }
            #expect(isNoted == options.contains("ptrace"))
            // If this needs tracing, the program's children are not followed.
            let follows = options == ["--follow-children"]
            #expect(report.processes.map(\.name) == [program] + (follows ? ["sh", program] : []))
        }

        /// Only a child has LeakSanitizer. If children are traced, this one is not, and its own
        /// children are not followed; all others are.
        @Test(arguments: ["leaking", "leaked"], ["signal", "ptrace"])
        func leaksOfAChildAreFoundAsAlone(program: String, capture: String) throws {
            let script = #""$1" "$2"; echo "status $?"; "$2"; exit 3"#
            let words = [
                "sh", "-c", script, "sh", try Setup.fixture(program), try Setup.fixture("spin"),
            ]
            let alone = try Command(words).run()
            #expect(alone.error.contains("4711 byte"), "\(alone)")
            let path = scratch("recording")
            let recorded = try Firstlight.recording(
                words, to: path, options: ["--quiet", "--follow-children", "--capture", capture]
            ).run()
            #expect(recorded.end == alone.end && recorded.output == alone.output)
            #expect(recorded.error.withoutNumbers == alone.error.withoutNumbers)
            let whole = Recorded(path: path, finished: recorded)
            let report = try whole.json()
            let isNoted = report.launch.notes.contains { $0.kind == "leak_sanitizer" }
            #expect(isNoted == (capture == "ptrace"))
            let names = report.processes.map(\.name)
            guard capture == "ptrace" else {
                #expect(names.filter { $0 == "spin" }.count == 2 && names.contains(program))
                return
            }
            #expect(names == ["sh", program, "spin"])
            #expect(try whole.json(["--process", program]).launch.slices > 0)
            let summary = try whole.text("report", ["--full"], columns: 300)
            #expect(summary.contains("not traced") && summary.contains("not followed"))
        }

        /// A program that may not make memory executable runs as without recording.
        @Test(arguments: ["static", "static-pie", "no-pie", "stripped"])
        func noMemoryMayBecomeExecutable(program: String) throws {
            let words = [try Setup.fixture("guarded"), try Setup.fixture(program)]
            let alone = try Command(words).run()
            guard alone.status != 77 else { return }
            for capture in ["signal", "ptrace"] {
                let recorded = try Firstlight.recording(
                    words, to: scratch("recording"), options: ["--capture", capture])
                let result = try recorded.run()
                #expect(result.end == alone.end && result.output == alone.output, "\(result)")
                // Without our code the borders of the launch's phases are unknown, and the recorder
                // says so.
                #expect(result.error.contains("memory could not be shared"), "\(result.error)")
                let report = try Recorded(path: scratch("recording"), finished: result).json()
                #expect(!report.phases.contains { $0.name == "Main" })
                #expect(report.phases.contains { $0.name == "Not divided" && $0.cpuNs > 0 })
            }
        }
    }
}

extension String {
    /// Without the parts that differ between two runs of a program with a sanitizer.
    fileprivate var withoutNumbers: String { replacing(/==\d+==|0x[0-9a-f]+/, with: "") }
}
