import Testing

extension EndToEnd {
    /// The status of `record` is the program's own; what keeps a program from running has the
    /// statuses that env(1) and timeout(1) use.
    @Suite struct ExitStatus {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String], options: [String] = ["--quiet"]) throws -> Finished {
            try Firstlight.recording(program, to: scratch("recording"), options: options).run()
        }

        @Test(arguments: [
            (["segv"], 139, 11), (["abort"], 134, 6), (["kill", "9"], 137, 9),
            (["kill", "15"], 143, 15), (["kill", "5"], 133, 5), (["exit", "3"], 3, nil),
            (["exit", "0"], 0, nil), (["exit", "255"], 255, nil),
        ])
        func theProgramsStatusIsPassedOn(
            mode: [String], status: Int32, signal: Int32?
        ) throws {
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

        @Test func whatIsNotFoundIs127() throws {
            let absent = try record(["no-such-program-anywhere"])
            #expect(absent.isRefusal(127, mentioning: "no-such-program-anywhere"), "\(absent)")
            let file = try record([scratch("absent")])
            #expect(file.isRefusal(127, mentioning: scratch("absent")), "\(file)")
            #expect(scratch.files.isEmpty)
        }

        @Test func whatCannotRunIs126() throws {
            try scratch.write("echo ran\n", to: "plain")
            try scratch.write("#!/nonexistent/interpreter\n", to: "script", mode: 0o755)
            try scratch.write("\u{7f}ELF and then nonsense", to: "garbage", mode: 0o755)
            let directory = try record([scratch.path])
            #expect(directory.isRefusal(126, mentioning: scratch.path, "directory"), "\(directory)")
            let plain = try record([scratch("plain")])
            #expect(plain.isRefusal(126, mentioning: "not executable"), "\(plain)")
            let script = try record([scratch("script")])
            #expect(script.isRefusal(126, mentioning: "/nonexistent/interpreter"), "\(script)")
            let garbage = try record([scratch("garbage")])
            #expect(garbage.isRefusal(126, mentioning: scratch("garbage")), "\(garbage)")
            #expect(scratch.files == ["garbage", "plain", "script"])
        }

        /// A failed start must not cost the recording that was there.
        @Test func anOlderRecordingSurvivesAFailedStart() throws {
            _ = try record(["true"])
            let before = scratch.contents(of: "recording")
            #expect(try record([scratch("absent")]).status == 127)
            try scratch.write("#!/nonexistent/interpreter\n", to: "script", mode: 0o755)
            #expect(try record([scratch("script")]).status == 126)
            #expect(scratch.contents(of: "recording") == before)
            #expect(scratch.files == ["recording", "script"])
        }

        @Test(arguments: [
            ["-F", "0"], ["-F", "-5"], ["-F", "99999999"], ["-F", "abc"], ["-F", ""], ["-F", "1.5"],
            ["--frequency=10001"], ["--frequency=99999999999999999999"], ["--duration", "5"],
            ["--duration", "-1s"], ["--duration", "soon"], ["--capture", "magic"],
            ["--after", "lunch"],
        ])
        func wrongValuesAreRefused(options: [String]) throws {
            let result = try record(["touch", scratch("marker")], options: options)
            #expect(result.isRefusal(125), "\(result)")
            #expect(scratch.files.isEmpty)
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
            let version = try Firstlight.run("--version")
            #expect(version.status == 0)
            #expect(version.output.contains(#/^firstlight \d+\.\d+\.\d+\n$/#))
        }
    }
}
