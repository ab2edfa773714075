import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Where recordings are written, and what happens to the program if they cannot be.
    @Suite struct OutputFile {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func run(_ words: [String], in directory: String) throws -> Finished {
            var command = try Firstlight.command(words)
            command.directory = directory
            return try command.run()
        }

        @Test func theDefaultIsInTheWorkingDirectoryAndKeepsTheOlder() throws {
            try FileManager.default.createDirectory(
                atPath: scratch("cwd"), withIntermediateDirectories: false)
            func files() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: scratch("cwd")).sorted()
            }
            func pid(_ name: String) throws -> Int32 {
                let finished = Finished(end: .exited(0), output: "", error: "")
                return try Recorded(path: scratch("cwd/" + name), finished: finished).json()
                    .program.pid
            }
            #expect(try run(["record", "true"], in: scratch("cwd")).status == 0)
            #expect(try files() == ["launch.firstlight"])
            let first = try pid("launch.firstlight")
            #expect(try run(["record", "--quiet", "true"], in: scratch("cwd")).status == 0)
            #expect(try files() == ["launch.firstlight", "launch.firstlight.old"])
            #expect(try pid("launch.firstlight.old") == first)
            #expect(try pid("launch.firstlight") != first)
            let report = try run(["report"], in: scratch("cwd"))
            #expect(report.status == 0 && report.output.contains("true"))
        }

        /// A recorder at work keeps its file.
        @Test func twoRecordersAtOnePlace() throws {
            let inner =
                "until test -s launch.firstlight; do :; done; \"$0\" record --quiet true; echo $?"
            let words = ["record", "--quiet", "sh", "-c", inner, try Setup.path(.firstlight)]
            let result = try run(words, in: scratch.folder)
            #expect(result.status == 0 && result.output == "125\n", "\(result)")
            #expect(result.error.contains("launch.firstlight: is still being written"))
            #expect(scratch.names == ["launch.firstlight"])
            let report = try run(["report"], in: scratch.folder)
            #expect(report.output.hasPrefix("sh "))
        }

        /// A recording was moved away meanwhile, and is not mistaken for the file in its place.
        @Test func aRecordingThatIsMoved() throws {
            let other = try Firstlight.record(["true"], in: scratch)
            let before = scratch.contents(of: "recording")
            let move =
                "until test -s launch.firstlight; do :; done; mv launch.firstlight moved; "
                + "cp \(other.path) launch.firstlight; exit 3"
            let result = try run(["record", "--quiet", "sh", "-c", move], in: scratch.folder)
            #expect(result.isRefusal(3, mentioning: "not the recording"), "\(result)")
            #expect(scratch.contents(of: "launch.firstlight") == before)
            let report = try run(["report", "moved"], in: scratch.folder)
            #expect(report.output.hasPrefix("sh "))
        }

        @Test func onlyItsOwnerMayReadIt() throws {
            // Whatever the umask.
            let path = scratch("recording")
            let words = ["record", "--quiet", "-o", path, "true"]
            let firstlight = try Setup.path(.firstlight)
            _ = try Command(["sh", "-c", "umask 0; exec \"$0\" \"$@\"", firstlight] + words).run()
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(scratch.names == ["recording"])
        }

        /// If the recording could not be written, the program is not started.
        @Test func anUnwritableFileIsRefusedBeforeTheLaunch() throws {
            try scratch.write("precious\n", to: "precious")
            let places = [
                scratch("absent/recording"), scratch.folder, scratch("precious"), "/dev/null",
                "/dev/full", "/proc/recording",
                scratch("precious/recording"),
            ]
            for place in places {
                let command = try Firstlight.recording(["touch", scratch("marker")], to: place)
                let result = try command.run()
                #expect(result.isRefusal(125, mentioning: place), "\(result)")
                #expect(!scratch.has("marker"), "\(place)")
            }
            #expect(scratch.contents(of: "precious") == "precious\n")
            #expect(scratch.names == ["precious"])
        }

        /// The program does its work, and its status is its own, whatever happens to the recording.
        @Test(.requires(SmallDisk.canMount, "a small file system cannot be mounted"))
        func aFullDiskCostsTheRecordingOnly() throws {
            let disk = try SmallDisk(at: scratch("disk"), kilobytes: 16)
            let result = try Firstlight.recording(
                Self.program, to: disk.path + "/recording", options: ["-F", "5000", "--quiet"]
            ).run()
            #expect(result.isRefusal(3, mentioning: "space", "is kept"), "\(result)")
            #expect(result.output == "done\n")
            #expect(try Firstlight.run("report", disk.path + "/recording").status == 0)
        }

        @Test(.requires(SmallDisk.canMount, "a small file system cannot be mounted"))
        func aDiskThatIsFullIsRefusedBeforehand() throws {
            let disk = try SmallDisk(at: scratch("disk"), kilobytes: 4)
            let command = try Firstlight.recording(
                ["touch", scratch("marker")], to: disk.path + "/recording")
            let result = try command.run()
            #expect(result.isRefusal(125, mentioning: "No space left"), "\(result)")
            #expect(!result.error.contains("kept"))
            #expect(!scratch.has("marker"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == [])
        }

        /// In KiB: a limit in which no recording fits, and one that this recording reaches.
        @Test(arguments: [(2, 125), (12, 3)])
        func aLimitOfFileSizeToo(kilobytes: Int, status: Int32) throws {
            let words = [
                try Setup.path(.firstlight), "record", "-F", "5000", "--quiet", "-o",
                scratch("recording"),
            ]
            let limit = "ulimit -f \(kilobytes); exec \"$0\" \"$@\""
            let result = try Command(["bash", "-c", limit] + words + Self.program).run()
            #expect(result.isRefusal(status, mentioning: "File too large"), "\(result)")
            #expect(result.output == (status == 3 ? "done\n" : ""))
            #expect(result.error.contains("is kept") == scratch.has("recording"))
        }

        /// If a recording ends before the program is ready, the program is not stopped.
        @Test(.needs("perl")) func aRecordingThatFailsDoesNotStopItsProgram() throws {
            let script = """
                vec(my $input, 0, 1) = 1;
                while (!select(my $read = $input, undef, undef, 0)) { for my $i (1..1000) {} }
                print "done\\n";
                exit 3;
                """
            let words = try Firstlight.recording(
                ["perl", "-e", script], to: scratch("recording"),
                options: ["-F", "5000", "--quiet", "--until", "listen"]
            ).words
            let (input, complaints) = (try Channel(), try Channel())
            let limit = "ulimit -f 200; exec \"$0\" \"$@\""
            var command = Command(["bash", "-c", limit] + words)
            (command.input, command.error) = (.descriptor(input.reader), complaints.writer)
            let child = try command.start()
            complaints.closeWriter()
            #expect(try complaints.line()?.contains("File too large") == true)
            // If the recorder said anything about stopping the program, it has said it by then.
            try Proc.waitUntil("waiting for the program") { Proc.onlyWaits(child.pid) }
            try input.write("x\n")
            let result = try child.finish()
            #expect(result.status == 3 && result.output == "done\n", "\(result)")
            let rest = try complaints.rest()
            #expect(!rest.contains("stopped with SIGTERM"), "\(rest)")
        }

        /// If the program could not be sampled, it is not started.
        @Test func noTimerToBeHadIsRefusedBeforehand() throws {
            let words = try Firstlight.recording(
                ["touch", scratch("marker")], to: scratch("recording")
            ).words
            let limit = "ulimit -i 0; exec \"$0\" \"$@\""
            let result = try Command(["bash", "-c", limit] + words).run()
            #expect(result.isRefusal(125, mentioning: "timer", "ulimit -i"), "\(result)")
            #expect(!scratch.has("marker") && !scratch.has("recording"))
        }

        /// Computes for some time; its recording has some 350 KB.
        private static let program = [
            "bash", "-c", "for ((i = 0; i < 1000000; i++)); do :; done; echo done; exit 3",
        ]

        @Test(arguments: ["1", "200", "5000"])
        func frequenciesAreKept(frequency: String) throws {
            let recorded = try Firstlight.record(
                [try Setup.fixture("static")], in: scratch, options: ["--quiet", "-F", frequency])
            let launch = try recorded.json().launch
            #expect(String(launch.frequencyHz) == frequency)
            let expected = Int(frequency).map { Double($0) * Double(launch.wallNs) / 1e9 } ?? 0
            #expect(Double(launch.ticks) <= expected * 1.05 + 2)
            #expect(launch.capture == (launch.isUnmapped ? "ptrace" : "signal"))
        }
    }
}

/// A small file system, in memory.
private final class SmallDisk {
    let path: String

    /// False in most containers.
    static let canMount: Bool = {
        guard Setup.isRoot, let scratch = try? Scratch() else { return false }
        return (try? SmallDisk(at: scratch("disk"), kilobytes: 64)) != nil
    }()

    init(at path: String, kilobytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let words = ["mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "none", path]
        guard try Command(words).run().status == 0 else {
            throw Command.Failure(description: "cannot mount")
        }
    }

    deinit { _ = try? Command(["umount", path]).run() }
}
