import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// One program, linked in every possible way.
    @Suite struct Linking {
        private static let dynamic = [
            "Process creation", "Dynamic linking", "Static initialisers", "Main",
        ]

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ variant: String) throws -> LaunchReport {
            try Firstlight.record(
                [try Setup.fixture(variant)], in: scratch,
                adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
            ).json()
        }

        @Test(
            arguments: [
                ("static", dynamic.filter { $0 != "Dynamic linking" }),
                ("static-pie", dynamic.filter { $0 != "Dynamic linking" }),
                ("no-pie", dynamic), ("stripped", dynamic),
            ])
        func phasesAreFound(variant: String, phases: [String]) throws {
            let report = try record(variant)
            #expect(report.phaseNames == phases)
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
        }

        /// AppImages, Guix and Nix start a program by the dynamic linker's name. The kernel knows only that.
        @Test(
            arguments: ["no-pie", "stripped", "groundtruth"], ["signal", "ptrace"])
        func startedByTheLinker(variant: String, capture: String) throws {
            let program = try Setup.fixture(variant)
            let recorded = try Firstlight.record(
                ["/lib64/ld-linux-x86-64.so.2", "--argv0", "other", program], in: scratch,
                options: ["--capture", capture], adding: ["FIRSTLIGHT_TRUTH": scratch("truth")])
            #expect(recorded.finished.status == 0)
            let report = try recorded.json()
            #expect(report.phaseNames == Self.dynamic)
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.program.path == program && report.program.name == variant)
            #expect(report.program.arguments == [program])
            let parts = try recorded.parts()
            #expect(parts.libraries.contains { $0.path.hasSuffix("/libc.so.6") })
            #expect(parts.initializers.contains { $0.module == variant })
            #expect(report.launch.mostStacksAreWhole, "\(report.launch)")
        }

        /// Its registers, stack and system calls are others: it is named before it runs.
        @Test(arguments: ["signal", "ptrace"]) func aNarrowProgram(capture: String) throws {
            let program = try Setup.fixture("narrow")
            let path = scratch("recording")
            let finished = try Firstlight.command([
                "record", "--capture", capture, "-o", path, program,
            ]).run()
            #expect(finished.status == 7 && finished.output == "4\n")
            let lines = finished.error.split(separator: "\n")
            #expect(lines.first?.contains("narrow is a 32-bit program: ") == true)
            #expect(lines.contains { $0.contains("a 32-bit program: its functions are named") })
            #expect(!finished.error.contains("unwind tables"))
            #expect(!finished.error.contains("build it with -g"))
            let recorded = Recorded(path: path, finished: finished)
            let report = try recorded.json()
            #expect(report.phaseNames == ["Process creation", "Not divided"])
            let function = try #require(report.functions.first { $0.function == "narrow_inner" })
            #expect(function.selfCpuNs * 2 > report.launch.cpuNs)
            let text = try recorded.text("report", ["--notes"])
            #expect(!text.contains("unwind tables"))
        }

        /// The linker ends before it has mapped anything: the launch's progress is not known.
        @Test func aProgramThatTheLinkerDoesNotFind() throws {
            let path = scratch("recording")
            let finished = try Firstlight.recording(
                ["/lib64/ld-linux-x86-64.so.2", scratch("nothing")], to: path
            ).run()
            #expect(finished.status == 127)
            let recorded = Recorded(path: path, finished: finished)
            #expect(try recorded.json().phaseNames == ["Process creation", "Dynamic linking"])
        }

        /// The program is over before its mappings have been read, and sometimes shares one core
        /// with the recorder. But the place of its code is known.
        @Test(arguments: ["moment", "moment-static", "moment-no-pie"])
        func oneThatIsOverAtOnce(variant: String) throws {
            let core = try Cores.first()
            var truncated = 0
            for _ in 0..<12 {
                var command = try Firstlight.recording(
                    [try Setup.fixture(variant)], to: scratch("recording"))
                command.words = ["taskset", "-c", core, "nice", "-n", "5"] + command.words
                let finished = try command.run()
                try #require(finished.status == 7)
                let report = try Recorded(path: scratch("recording"), finished: finished).json()
                truncated += report.launch.truncatedStacks
            }
            // If the kernel could not read a stack, this has nothing to do with the place of the
            // code. Without the place, every launch has such a stack.
            #expect(truncated <= 6)
        }

        /// Functions without a name are shown as places in their file, never by a neighbour's name.
        @Test func strippedFunctionsAreNotMisnamed() throws {
            let report = try record("stripped")
            let own = report.functions.filter { $0.module == "stripped" }
            #expect(!own.isEmpty)
            for function in own {
                #expect(function.function.hasPrefix("stripped+0x"), "\(function.function)")
            }
        }
    }
}
