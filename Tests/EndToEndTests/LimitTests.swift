import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// Under a limit of descriptors, processes, locked memory or file sizes, a recording is refused
    /// before the program runs, or it is made. None that was begun is lost.
    @Suite struct Limits {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// The files at the recording's path and beside it.
        private var recordings: [String] { scratch.names.filter { $0.hasPrefix("recording") } }

        /// How a run under a limit ended, and what the program said.
        private struct Run {
            var finished: Finished
            var output: String
            /// The program never ran.
            var isRefused: Bool { output.isEmpty }
        }

        /// Runs a recorder of `crowd`, whose threads compute until the recording's file may be
        /// opened.
        ///
        /// - Parameter hold: a file whose opening waits until the recorder has looked at the threads
        ///   many times.
        private func runCrowd(
            _ limit: [String], wrapper: [String] = [], threads: [String],
            options: [String] = [], hold: String? = nil,
            whileRunning: (Child) throws -> Void = { _ in }
        ) throws -> Run {
            let crowd = try Setup.fixture("crowd")
            var command = try Firstlight.recording(
                wrapper + [crowd] + threads, to: scratch("recording"),
                options: ["--quiet"] + options)
            if let hold {
                command.environment["LD_PRELOAD"] = try Setup.fixture("held.so")
                command.environment["HELD_NAME"] = hold
                command.environment["HELD_UNTIL"] = scratch("gate")
            }
            command.words = limit + command.words
            // Not to files, whose sizes may be limited.
            let (input, output, error) = (try Channel(), try Channel(), try Channel())
            command.input = .descriptor(input.reader)
            command.output = output.writer
            command.error = error.writer
            let child = try command.start()
            output.closeWriter()
            error.closeWriter()
            var said = ""
            if let line = try output.line() {
                said = line
                let pid = try Proc.recordedProgram(of: child.pid, running: crowd)
                // In so much CPU time of the recorder's it looks at all threads many times, however
                // busy the machine is. When its file is full, it does not look any more.
                let program = Proc.cpuTime(ofThreadsOf: pid)
                let recorder = Proc.cpuTime(ofThreadsOf: child.pid)
                try Proc.waitUntil("some work") {
                    Proc.cpuTime(ofThreadsOf: pid) > program + 200_000_000
                        && (Proc.cpuTime(ofThreadsOf: child.pid) > recorder + 100_000_000
                            || Proc.onlyWaits(child.pid))
                }
                try whileRunning(child)
                try scratch.write("", to: "gate")
                input.closeWriter()
                said += try " " + output.rest()
            }
            var finished = try child.finish()
            finished.error = try error.rest()
            return Run(finished: finished, output: said)
        }

        private func descriptors(_ limit: Int) -> [String] {
            ["prlimit", "--nofile=\(limit):\(limit)", "--"]
        }

        // MARK: Descriptors

        /// The recording's file is opened long after the threads' files and events have taken all
        /// that they can get.
        @Test(
            .needs("prlimit"),
            arguments: [4, 8, 16, 24, 32, 34, 36, 38, 40, 44, 48, 56, 64, 80, 96, 112, 128])
        func descriptors(limit: Int) throws {
            let run = try runCrowd(
                descriptors(limit), threads: ["1", "150"], hold: "recording")
            if run.isRefused {
                #expect(run.finished.isRefusal(125, mentioning: "ulimit -n"), "\(run)")
                #expect(limit < 48 && scratch.names.isEmpty)
            } else {
                #expect(limit > 34)
                #expect(run.finished.status == 0 && run.finished.error == "", "\(run)")
                #expect(run.output.hasPrefix("ready portions "))
                #expect(recordings == ["recording"])
                let recorded = Recorded(path: scratch("recording"), finished: run.finished)
                #expect(try recorded.json().threads.count == 152)
            }
        }

        @Test(
            .needs("prlimit"),
            arguments: [["--capture", "ptrace"], ["--follow-children"], ["--switches", "off"]])
        func descriptorsOfEachWay(options: [String]) throws {
            let run = try runCrowd(
                descriptors(40), threads: ["1", "100"], options: options, hold: "recording")
            #expect(run.finished.status == 0 && run.finished.error == "", "\(run)")
            let recorded = Recorded(path: scratch("recording"), finished: run.finished)
            #expect(try recorded.json().threads.count == 102)
        }

        /// The second part's file is opened late, and both are read at the end.
        @Test(.needs("prlimit")) func descriptorsOfTheLastStretch() throws {
            let run = try runCrowd(
                descriptors(40), threads: ["1", "100"], options: ["--last", "1s"]
            ) { _ in
                try Proc.waitUntil("the second part") { scratch.has("recording.before") }
            }
            #expect(run.finished.status == 0 && run.finished.error == "", "\(run)")
            #expect(recordings == ["recording"])
            let recorded = Recorded(path: scratch("recording"), finished: run.finished)
            #expect(try recorded.json().threads.count == 102)
        }

        /// Each library's file is read for unwinding, and once more for its functions' names.
        @Test(.needs("prlimit"), arguments: [40, 64])
        func descriptorsOfLibraries(limit: Int) throws {
            let library = try Setup.fixture("held.so")
            let copies = try (0..<100).map { number in
                let copy = scratch("library\(number).so")
                try Scratch.copyItem(atPath: library, toPath: copy)
                return copy
            }
            let run = try runCrowd(
                descriptors(limit),
                wrapper: ["env", "LD_PRELOAD=\(copies.joined(separator: ":"))"],
                threads: ["1", "20"])
            #expect(run.finished.status == 0 && run.finished.error == "", "\(run)")
            let recorded = Recorded(path: scratch("recording"), finished: run.finished)
            #expect(try recorded.folded().nanoseconds(through: "work_on") > 0)
            #expect(try recorded.json().threads.count == 22)
        }

        /// Where all its threads' files cannot be kept open, each is read in its turn, and the
        /// functions' names are found.
        @Test(.needs("prlimit"), arguments: [16, 40, 96]) func attaching(limit: Int) throws {
            let crowd = try Setup.fixture("crowd")
            var command = Command([crowd, "1", "100"])
            let (input, output) = (try Channel(), try Channel())
            command.input = .descriptor(input.reader)
            command.output = output.writer
            let program = try command.start()
            output.closeWriter()
            #expect(try output.line() == "ready")
            var attach = try Firstlight.command([
                "attach", "--quiet", "-o", scratch("recording"), "--duration", "300ms",
                String(program.pid),
            ])
            attach.words = descriptors(limit) + attach.words
            let finished = try attach.run()
            if limit < 36 {
                #expect(finished.isRefusal(125, mentioning: "ulimit -n"), "\(finished)")
                #expect(scratch.names.isEmpty)
            } else {
                #expect(finished.status == 0 && finished.error == "", "\(finished)")
                let recorded = Recorded(path: scratch("recording"), finished: finished)
                let report = try recorded.json()
                #expect(report.threads.count == 102)
                let isFound = try recorded.folded().nanoseconds(through: "work_on") > 0
                #expect(isFound || report.launch.isHardlySeen)
            }
            #expect(!Proc.isTraced(program.pid))
            input.closeWriter()
            #expect(try output.rest().hasPrefix("portions "))
            #expect(try program.finish().status == 0)
        }

        /// Descriptors that other programs have left open count.
        @Test(.needs("prlimit")) func inheritedDescriptors() throws {
            let record = try Firstlight.recording(["echo", "ran"], to: scratch("recording"))
            let open = (10..<50).map { "exec \($0)</dev/null;" }.joined()
            // The shell of Debian knows numbers of one digit only.
            let result = try Command(
                ["bash", "-c", open + " exec \"$@\"", "bash"] + descriptors(64) + record.words
            ).run()
            #expect(result.isRefusal(125, mentioning: "ulimit -n", "limit is 64"), "\(result)")
            #expect(result.output.isEmpty && scratch.names.isEmpty)
        }

        /// The recorder raises its own limit; the program has what the user gave it.
        @Test(.needs("prlimit")) func theProgramKeepsItsLimits() throws {
            let record = try Firstlight.recording(
                ["sh", "-c", "ulimit -Sn; ulimit -Hn"], to: scratch("recording"))
            let run = try Command(["prlimit", "--nofile=40:300", "--"] + record.words).run()
            #expect(run == Finished(end: .exited(0), output: "40\n300\n", error: ""))
            let refused = try Command(["prlimit", "--nofile=16:300", "--"] + record.words).run()
            #expect(refused.isRefusal(125, mentioning: "ulimit -n", "limit is 16"), "\(refused)")
            #expect(refused.output.isEmpty)
        }

        // MARK: Threads and processes

        /// Runs a recorder as a user that has no other process.
        private func asAnotherUser(
            _ user: Int, _ limit: [String], _ program: [String]
        ) throws -> Command {
            chmod(scratch.folder, 0o777)
            if !scratch.has("firstlight") {
                try Scratch.copyItem(
                    atPath: try Setup.path(.firstlight), toPath: scratch("firstlight"))
                chmod(scratch("firstlight"), 0o755)
            }
            var command = try Firstlight.recording(program, to: scratch("recording"))
            command.words[0] = scratch("firstlight")
            command.words =
                ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
                + limit + command.words
            return command
        }

        private func expectRefusalOrRecording(_ result: Finished) throws {
            if result.output.isEmpty {
                #expect(result.isRefusal(125, mentioning: "ulimit -u"), "\(result)")
                #expect(recordings.isEmpty)
            } else {
                #expect(result == Finished(end: .exited(0), output: "ran\n", error: ""))
                #expect(recordings == ["recording"])
                let recorded = Recorded(path: scratch("recording"), finished: result)
                #expect(try recorded.json().threads.count == 1)
            }
        }

        @Test(
            .needsRoot, .needs("setpriv"), .needs("prlimit"), arguments: [1, 2, 3, 4, 5, 6, 8, 12])
        func processes(limit: Int) throws {
            // Helpers of an earlier run may not have been waited for yet.
            let user = 1_000_000 + Int(getpid()) * 16 + limit
            let result = try asAnotherUser(
                user, ["prlimit", "--nproc=\(limit):\(limit)", "--"], ["echo", "ran"]
            ).run()
            try expectRefusalOrRecording(result)
            #expect((limit == 1) == result.output.isEmpty || 2...4 ~= limit)
        }

        /// Where groups are made that limit processes, of version 1 or 2; nil: nowhere.
        private static var groups: String? {
            let root = "/sys/fs/cgroup"
            if access("\(root)/pids/cgroup.procs", W_OK) == 0 { return "\(root)/pids" }
            let passedOn = Proc.contents("\(root)/cgroup.subtree_control")?.contains("pids")
            return passedOn == true && access("\(root)/cgroup.procs", W_OK) == 0 ? root : nil
        }

        @Test(
            .needsRoot,
            .requires(groups != nil, "no control group can limit processes here"),
            arguments: [1, 2, 3, 4, 5, 6, 8, 12])
        func processesOfAControlGroup(limit: Int) throws {
            let parent = try #require(Self.groups)
            let group = "\(parent)/firstlight-test-\(getpid())-\(limit)"
            guard mkdir(group, 0o755) == 0 else { try Setup.skip("no control group can be made") }
            defer { rmdir(group) }
            let record = try Firstlight.recording(["echo", "ran"], to: scratch("recording"))
            let join =
                "echo \(limit) >\(group)/pids.max && echo $$ >\(group)/cgroup.procs || exit 99"
            let result = try Command(
                ["sh", "-c", join + "; exec \"$@\"", "sh"] + record.words
            ).run()
            try expectRefusalOrRecording(result)
            #expect((limit == 1) == result.output.isEmpty || 2...4 ~= limit)
            try Proc.waitUntil("the end of all helpers") {
                Proc.contents("\(group)/cgroup.procs") == ""
            }
        }

        // MARK: Memory and files

        /// Without memory for the kernel's events, stacks are taken in other ways.
        @Test(
            .needsRoot, .needs("setpriv"), .needs("prlimit"),
            arguments: [0, 4096, 65_536, 1_048_576])
        func lockedMemory(limit: Int) throws {
            // Where the build is, others may not look.
            let program = scratch("threads")
            try Scratch.copyItem(atPath: try Setup.fixture("threads"), toPath: program)
            let result = try asAnotherUser(
                65534, ["prlimit", "--memlock=\(limit):\(limit)", "--"], [program]
            ).run()
            #expect(result.status == 0 && result.error == "", "\(result)")
            let recorded = Recorded(path: scratch("recording"), finished: result)
            #expect(try recorded.json().threads.count > 1)
        }

        /// Without memory a recorder would die with its recording.
        @Test(
            .needs("prlimit"), arguments: [70, 80, 90, 100, 120, 140, 150, 160, 180, 200, 300, 500])
        func addressSpace(mebibytes: Int) throws {
            let limit = mebibytes << 20
            let run = try runCrowd(
                ["prlimit", "--as=\(limit):\(limit)", "--"], threads: ["2", "2"])
            if run.isRefused {
                #expect(run.finished.isRefusal(125, mentioning: "ulimit -v"), "\(run)")
                #expect(mebibytes < 200 && scratch.names.isEmpty)
            } else {
                #expect(run.finished.status == 0 && run.finished.error == "", "\(run)")
                #expect(run.output.hasPrefix("ready portions "))
                let recorded = Recorded(path: scratch("recording"), finished: run.finished)
                #expect(try recorded.json().threads.count == 5)
            }
        }

        /// A recording that becomes too large keeps its earlier part.
        @Test(
            .needs("prlimit"),
            arguments: [0, 512, 1024, 2048, 4096, 8192, 10_000, 16_384, 30_000, 65_536, 1 << 20])
        func fileSizes(limit: Int) throws {
            let run = try runCrowd(
                ["prlimit", "--fsize=\(limit):\(limit)", "--"], threads: ["1", "100"])
            if run.isRefused {
                #expect(run.finished.isRefusal(125, mentioning: "ulimit -f"), "\(run)")
                #expect(limit < 16_384 && scratch.names.isEmpty)
                return
            }
            #expect(run.finished.status == 0, "\(run)")
            #expect(run.output.hasPrefix("ready portions "))
            #expect(
                run.finished.error == ""
                    || run.finished.isRefusal(0, mentioning: "File too large", "is kept"), "\(run)")
            #expect(limit < 1 << 20 || run.finished.error == "")
            let report = try Firstlight.run("report", scratch("recording"))
            #expect(report.status == 0, "\(report)")
        }
    }
}

extension Proc {
    /// The CPU time of all its threads that live, in nanoseconds.
    fileprivate static func cpuTime(ofThreadsOf pid: pid_t) -> Int64 {
        tasks(pid).compactMap { cpuTime($0, in: pid) }.reduce(0, +)
    }

    private static func cpuTime(_ tid: pid_t, in pid: pid_t) -> Int64? {
        contents("/proc/\(pid)/task/\(tid)/schedstat")?.split(separator: " ").first
            .flatMap { Int64($0) }
    }
}
