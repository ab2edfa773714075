import EndToEndSupport
import TestSupport
import Testing

extension EndToEnd {
    /// The status of `record` is the program's own. If a program cannot run, the status is that of
    /// env(1) and timeout(1).
    @Suite struct ExitStatus {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String], options: [String] = ["--quiet"]) throws -> Finished
        {
            try Firstlight.recording(program, to: scratch("recording"), options: options).run()
        }

        /// How the fixture is to end, and the expected result.
        struct Ending: Sendable {
            var mode: String
            var status: Int32
            var signal: Int32?

            static let all = [
                Ending(mode: "segv", status: 139, signal: 11),
                Ending(mode: "abort", status: 134, signal: 6),
                Ending(mode: "kill 9", status: 137, signal: 9),
                Ending(mode: "kill 15", status: 143, signal: 15),
                Ending(mode: "kill 5", status: 133, signal: 5),
                Ending(mode: "exit 3", status: 3), Ending(mode: "exit 0", status: 0),
                Ending(mode: "exit 255", status: 255),
            ]
        }

        @Test(arguments: Ending.all)
        func theProgramsStatusIsPassedOn(ending: Ending) throws {
            let mode = ending.mode.split(separator: " ").map(String.init)
            let (status, signal) = (ending.status, ending.signal)
            let result = try record([try Setup.fixture("crash")] + mode)
            #expect(result.status == status)
            #expect(result.output == "crash: \(mode[0])\n")
            #expect(result.error == "")
            let report = try Recorded(path: scratch("recording"), finished: result).json()
            #expect(report.program.signal == signal)
            #expect(report.program.exitStatus == (signal == nil ? status : nil))
            #expect(report.phases.reduce(0) { $0 + $1.wallNs } == report.launch.wallNs)
            #expect(report.phaseNames.last == "Main")
        }

        @Test func aMissingProgramGivesStatus127() throws {
            let absent = try record(["no-such-program-anywhere"])
            #expect(absent.isRefusal(127, mentioning: "no-such-program-anywhere"), "\(absent)")
            let file = try record([scratch("absent")])
            #expect(file.isRefusal(127, mentioning: scratch("absent")), "\(file)")
            #expect(scratch.names.isEmpty)
        }

        @Test func anUnrunnableProgramGivesStatus126() throws {
            try scratch.write("echo ran\n", to: "plain", mode: 0o644)
            try scratch.write("#!/nonexistent/interpreter\n", to: "script", mode: 0o755)
            let directory = try record([scratch.folder])
            #expect(
                directory.isRefusal(126, mentioning: scratch.folder, "directory"), "\(directory)")
            let plain = try record([scratch("plain")])
            #expect(plain.isRefusal(126, mentioning: "not executable"), "\(plain)")
            let script = try record([scratch("script")])
            #expect(script.isRefusal(126, mentioning: "/nonexistent/interpreter"), "\(script)")
            #expect(scratch.names == ["plain", "script"])
        }

        /// A file of a kind that the kernel does not know is a shell script, as for every other
        /// launcher.
        @Test func aScriptWithoutInterpreterIsTheShells() throws {
            try scratch.write("echo script $1; exit 4\n", to: "script", mode: 0o755)
            let alone = try Command(["env", scratch("script"), "a"]).run()
            #expect(alone.status == 4 && alone.output == "script a\n")
            #expect(try record([scratch("script"), "a"]) == alone)
        }

        /// A failed start must not remove the previous recording.
        @Test func anOlderRecordingSurvivesAFailedStart() throws {
            _ = try record(["true"])
            let before = scratch.contents(of: "recording")
            #expect(try record([scratch("absent")]).status == 127)
            try scratch.write("#!/nonexistent/interpreter\n", to: "script", mode: 0o755)
            #expect(try record([scratch("script")]).status == 126)
            #expect(scratch.contents(of: "recording") == before)
            #expect(scratch.names == ["recording", "script"])
        }

        @Test(arguments: [
            ["-F", "0"], ["-F", "-5"], ["-F", "99999999"], ["-F", "abc"], ["-F", ""],
            ["-F", "1.5"],
            ["--frequency=10001"], ["--frequency=99999999999999999999"], ["--duration", "5"],
            ["--duration", "-1s"], ["--duration", "soon"], ["--capture", "magic"],
            ["--after", "lunch"],
        ])
        func wrongValuesAreRefused(options: [String]) throws {
            let result = try record(["touch", scratch("marker")], options: options)
            #expect(result.isRefusal(125), "\(result)")
            #expect(scratch.names.isEmpty)
        }

        @Test func wrongCommandLinesAreRefused() throws {
            let none = try Firstlight.run("record")
            #expect(none.isRefusal(125, mentioning: "program"), "\(none)")
            let option = try Firstlight.run("record", "--frequncy", "100", "true")
            #expect(option.isRefusal(125, mentioning: "--frequncy", "--frequency"), "\(option)")
            let attach = try Firstlight.run("attach", "--durtion=1s", "1")
            #expect(attach.isRefusal(125, mentioning: "--durtion", "--duration"), "\(attach)")
            let noPID = try Firstlight.run("attach")
            #expect(noPID.isRefusal(125), "\(noPID)")
            let report = try Firstlight.run("report", "--veiw", "tree")
            #expect(report.isRefusal(2, mentioning: "--veiw", "--view"), "\(report)")
            let fold = try Firstlight.run("fold", "--no-phse")
            #expect(fold.isRefusal(2, mentioning: "--no-phse", "--no-phase"), "\(fold)")
            let command = try Firstlight.run("recrod", "true")
            #expect(command.isRefusal(2, mentioning: "recrod", "record"), "\(command)")
            let phase = try Firstlight.run("report", "--weight", "gold")
            #expect(phase.isRefusal(2, mentioning: "gold"), "\(phase)")
        }

        @Test func helpIsThere() throws {
            let general = try Firstlight.run("--help")
            #expect(general.status == 0 && general.error == "")
            for subcommand in ["record", "attach", "report", "fold"] {
                #expect(general.output.contains(subcommand))
                let help = try Firstlight.run("help", subcommand)
                #expect(help.status == 0 && help.output.contains("--"))
                #expect(try Firstlight.run(subcommand, "--help") == help)
            }
        }

        @Test func theVersionIsThere() throws {
            let version = try Firstlight.run("--version")
            #expect(version.status == 0 && version.error == "")
            for line in [
                #/(?m)^commit +(?:unknown|[0-9a-f]{12,}(?:-modified)?)$/#,
                #/(?m)^recording +schema \d+$/#,
                #/(?m)^measurement +schema \d+$/#,
                #/(?m)^symbol cache +version \d+$/#,
                #/(?m)^database +schema \d+$/#,
                #/(?m)^JSON +report \d+, measure \d+, /#,
            ] {
                #expect(version.output.contains(line), "\(version.output)")
            }
            #expect(version.output.starts(with: #/firstlight \d+\.\d+\.\d+\n/#))
        }
    }
}
