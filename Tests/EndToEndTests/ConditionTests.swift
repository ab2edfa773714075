import EndToEndSupport
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// The conditions of launches: by `measure`, by `record`, and by the recording that follows a
    /// measurement.
    @Suite struct Conditions {
        private let scratch: Scratch
        /// A folder on a disk: /tmp may be in memory, and then its files are never cold.
        private let disk: Scratch

        init() throws {
            scratch = try Scratch()
            disk = try Scratch(in: "/var/tmp")
        }

        private func run(_ words: [String]) throws -> Finished {
            var command = try Firstlight.command(words)
            command.directory = scratch.folder
            return try command.run()
        }

        private var lines: [String] {
            (scratch.contents(of: "made") ?? "").split(separator: "\n").map(String.init)
        }

        /// The kernel's table of routes has a title, and a line for each route.
        private let countRoutes = ["--", "sh", "-c", "wc -l < /proc/net/route >> made"]

        private static let mayIsolate =
            Setup.isRoot
            || (try? Command(["unshare", "-rn", "true"]).run().status) == 0

        @Test(.enabled(if: mayIsolate, "the kernel gives this user no namespaces"))
        func measuringWithoutANetwork() throws {
            let finished = try run(
                ["measure", "-n", "2", "--network", "airplane", "-o", "file"] + countRoutes)
            #expect(finished.status == 0, "\(finished)")
            #expect(finished.output.contains("network airplane: no route"))
            #expect(lines == ["1", "1", "1"])
        }

        @Test(
            .enabled(if: mayIsolate, "the kernel gives this user no namespaces"),
            arguments: ["signal", "ptrace"])
        func recordingWithoutANetwork(capture: String) throws {
            let finished = try run(
                ["record", "--quiet", "--network", "none", "--capture", capture, "-o", "file"]
                    + countRoutes)
            #expect(finished == Finished(end: .exited(0), output: "", error: ""))
            #expect(lines == ["1"])
            let report = try Firstlight.run("report", scratch("file"))
            #expect(report.status == 0 && report.output.contains("launched in"))
        }

        @Test(.needsRoot) func recordingFromASlowDisk() throws {
            let finished = try run([
                "record", "--quiet", "--disk", "1M", "-o", "file", "--", "sh", "-c",
                "cat /proc/self/cgroup >> made",
            ])
            #expect(finished.status == 0, "\(finished)")
            #expect(finished.complaints.count == 1 && finished.error.contains("page cache"))
            #expect(lines.contains { $0.contains("firstlight-") })
        }

        @Test(.enabled(if: !Setup.isRoot, "root may"))
        func aSlowDiskThatCannotBeHad() throws {
            let finished = try run(["record", "--disk", "1M", "-o", "file"] + countRoutes)
            #expect(finished.isRefusal(125, mentioning: "run as root"), "\(finished)")
            #expect(lines.isEmpty)
        }

        /// An unknown network is refused, not silently ignored.
        @Test(arguments: [
            ("record", "--network", "4G", "airplane, none, '100% Loss'"),
            ("measure", "--network", "4G", "airplane, none, '100% Loss'"),
            ("record", "--network", "High Latency DNS", "name servers"),
            ("record", "--disk", "fast", "'fast' is not a value for --disk"),
        ])
        func unknownConditionsAreRefused(
            subcommand: String, option: String, value: String, words: String
        ) throws {
            let finished = try run([subcommand, option, value, "-o", "file"] + countRoutes)
            #expect(finished.isRefusal(125, mentioning: words), "\(finished)")
            #expect(lines.isEmpty && !scratch.has("file"))
        }

        @Test(.needsRoot, .needs("slirp4netns")) func aDelay() throws {
            let finished = try run(
                ["record", "--quiet", "--network", "1mbit,50ms", "-o", "file"] + countRoutes)
            #expect(finished.status == 0, "\(finished)")
            #expect(lines == ["3"])
        }

        @Test(.enabled(if: mayIsolate, "the kernel gives this user no namespaces"))
        func aLaunchWithStacksUnderTheSameConditions() throws {
            let words = [
                "measure", "-n", "2", "--then-record", "--network", "none",
                "--fresh-home", "--before", "echo before >> made", "-o", "file.firstlight",
            ]
            let program = "wc -l < /proc/net/route >> made; ls -A $HOME >> made; touch $HOME/x"
            let finished = try run(words + ["--", "sh", "-c", program])
            #expect(finished.error.contains("one launch with stacks"), "\(finished)")
            #expect(lines == Array(repeating: ["before", "1"], count: 4).flatMap { $0 })
            #expect(scratch.has("file.launch.firstlight"))
        }

        // MARK: - Cold and warm

        /// A program that no other process runs.
        private func copy(of program: String) throws -> String {
            let path = disk("copy")
            #expect(try Command(["cp", program, path]).run().status == 0)
            return path
        }

        private func copyOfSleep() throws -> String {
            try copy(of: try #require(Tool.find("sleep")))
        }

        /// The program has no libraries: on a busy machine others read those, and the linker's files,
        /// at any time.
        @Test func coldLaunchesAreProven() throws {
            let words = ["measure", "-n", "3", "--format", "json", "-o", "file"]
            let program = ["--", try copy(of: try Setup.fixture("arrays-static"))]
            let cold = try run(words + ["--cold", "--then-record"] + program)
            #expect(cold.error.contains("one launch with stacks"), "\(cold)")
            let report = try MeasureReport(cold.output)
            #expect(report.conditions.cache == "cold" && report.launches.count >= 4)
            for launch in report.launches where launch.discarded == nil {
                #expect(launch.readBytes ?? 0 >= 4096)
            }
            // The cold launches left it in the page cache. Other work may remove some of it, but
            // not each time.
            let warm = try MeasureReport(try run(words + program).output)
            #expect(warm.launches.dropFirst().contains { $0.readBytes == 0 })
        }

        /// Files that other processes run stay in the page cache; copies of them are used by no
        /// other process.
        @Test(.enabled(if: mayIsolate, "the kernel gives this user no namespaces"))
        func copiesAreColdWhoeverRunsTheProgram() throws {
            let path = try copyOfSleep()
            let other = try Command([path, "4714.5"]).start()
            defer { withExtendedLifetime(other) {} }
            try Proc.waitUntil("the program sleeps") { Proc.state(other.pid) == "S" }
            let finished = try run(
                [
                    "measure", "-n", "2", "--cold=copies", "--format", "json", "-o", "file", path,
                    "0",
                ]
            )
            let report = try MeasureReport(finished.output)
            #expect(finished.status == 0 && report.conditions.cache == "cold", "\(finished)")
            for launch in report.launches where launch.discarded == nil {
                // Not only the program: its libraries, too.
                #expect(launch.readBytes ?? 0 > 256 << 10)
            }
        }

        /// A file that another process runs stays in the page cache, so no launch of it may count
        /// as cold.
        @Test func warmLaunchesNeverPassAsCold() throws {
            let path = try copyOfSleep()
            let other = try Command([path, "4713.5"]).start()
            defer { withExtendedLifetime(other) {} }
            try Proc.waitUntil("the program sleeps") { Proc.state(other.pid) == "S" }
            let finished = try run(
                ["measure", "-n", "2", "--cold", "--format", "json", "-o", "file", path, "0"])
            #expect(finished.status == 1, "\(finished)")
            #expect(finished.error.contains("they were not cold"))
            let report = try MeasureReport(finished.output)
            #expect(report.fates == ["first"] + Array(repeating: "warm", count: 5))
        }
    }
}
