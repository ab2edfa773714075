import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension Measured {
    /// `--follow-children`: one recording has the launch's whole tree of processes.
    @Suite struct Children {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func record(_ program: [String]) throws -> Recorded {
            let path = scratch("launch.firstlight")
            let finished = try Firstlight.recording(
                program, to: path, options: ["--quiet", "--follow-children"]
            ).run()
            return Recorded(path: path, finished: finished)
        }

        @Test func oneRecordingHasThemAll() throws {
            let spin = try Setup.fixture("spin")
            let script = "\(spin); (exit 3); \(spin) & wait; exit 7"
            try Truth.of("short children") { figures in
                let recorded = try record(["sh", "-c", script])
                let report = try recorded.json()
                let children = report.processes.dropFirst()
                // One lives for a fraction of a millisecond, and is gone with its status.
                figures.check(
                    "every child's status", isSo: children.allSatisfy { $0.exitStatus != nil })
            }
        }

        /// Each process is started in another way, and measures itself. The path goes through the
        /// processes that were waited for, in their order.
        @Test func eachProcessIsNearTheTruth() throws {
            try Truth.of("children in every way") { figures in
                try? FileManager.default.removeItem(atPath: scratch("truth"))
                let path = scratch("launch.firstlight")
                let finished = try Firstlight.recording(
                    [try Setup.fixture("family")], to: path,
                    options: ["--quiet", "--follow-children"],
                    adding: ["FIRSTLIGHT_TRUTH": scratch("truth")]
                ).run()
                let report = try Recorded(path: path, finished: finished).json()
                let truth = try scratch.truth()
                // The eighth process is the daemon's parent.
                let roles = ["forked", "first", "second", "spawned", "executed", "daemon"]
                var pids: [Int32: String] = [:]
                for role in roles {
                    let process = report.processes.first {
                        Int64($0.pid) == truth["\(role)_pid"]
                    }
                    pids[process?.pid ?? 0] = role
                    let wall = process.flatMap { found in found.endNs.map { $0 - found.startNs } }
                    for (name, found) in [("cpu", process?.cpuNs), ("wall", wall)] {
                        let own = truth["\(role)_\(name)"]
                        figures.check(
                            "\(role) \(name)", found, truth: own,
                            tolerance: max(2_000_000, (own ?? 0) / 50))
                    }
                }
                var (order, times): ([String], [String: Int64]) = ([], [:])
                for segment in report.criticalPath {
                    guard let role = pids[segment.tid] else { continue }
                    if times[role] == nil { order.append(role) }
                    times[role, default: 0] += segment.durationNs
                }
                // Each lives for 50 ms or more. A process that only ended a moment in between does
                // not count.
                order.removeAll { times[$0, default: 0] < 10_000_000 }
                figures.check(
                    "the path: \(order.joined(separator: ", "))",
                    isSo: order == ["forked", "first", "spawned", "executed", "daemon"])
            }
        }

        /// The kernel counts as much as a child says itself, nearly all in its function; and if a launch
        /// waits for a process, it takes as long as this process.
        @Test(arguments: ["signal", "ptrace"]) func aChildsWork(capture: String) throws {
            try Truth.of("a child's work by \(capture)") { figures in
                let path = scratch("launch.firstlight")
                let finished = try Firstlight.recording(
                    ["sh", "-c", "\(try Setup.fixture("spin")); exit 0"], to: path,
                    options: ["--quiet", "--follow-children", "--capture", capture]
                ).run()
                let report = try Recorded(path: path, finished: finished).json()
                let child = try #require(report.processes.first { $0.name == "spin" })
                let function = report.functions.first { $0.function == "spin" }
                figures.check(
                    "spin", function?.selfCpuNs, isIn: child.cpuNs * 9 / 10...child.cpuNs)
                let waited = report.criticalPath.filter { $0.tid == child.pid }
                    .reduce(0) { $0 + $1.durationNs }
                // All but the process's beginning, when its parent did not yet wait for it.
                figures.check("on the path", waited, isIn: child.cpuNs / 2...Int64.max)
            }
        }

        /// The first process's threads, and those of programs that threads execute.
        @Test func threadsWork() throws {
            try Truth.of("threads of followed processes") { figures in
                // Long enough that starting and ending it hardly matters.
                let first = try record([try Setup.fixture("threads"), "3", "60000000"]).json()
                let work = first.functions.first { $0.function == "work" }
                figures.check(
                    "work", work?.selfCpuNs,
                    isIn: first.processes[0].cpuNs * 9 / 10...first.processes[0].cpuNs)
                let second = try record([
                    "sh", "-c", "\(try Setup.fixture("successor")) 5; true",
                ]).json()
                let all = second.functions.reduce(0) { $0 + $1.selfCpuNs }
                let child = try #require(second.processes.last)
                figures.check("all functions", all, isIn: child.cpuNs * 8 / 10...Int64.max)
            }
        }

        /// The recording may end just when the first process has forked by vfork.
        @Test func nothingIsLeftBehind() throws {
            let script = "i=0; while [ $i -lt 150 ]; do /bin/true; i=$((i+1)); done"
            try Truth.of("the end of a recording of children") { figures in
                var left = 0
                for _ in 1...15 {
                    let path = scratch("end.firstlight")
                    let finished = try Firstlight.recording(
                        ["sh", "-c", script], to: path,
                        options: ["--quiet", "--follow-children", "--duration", "60ms"]
                    ).run()
                    let report = try Recorded(path: path, finished: finished).json()
                    if report.launch.notes.contains(where: { $0.kind == "left_behind" }) {
                        left += 1
                    }
                    try FileManager.default.removeItem(atPath: path)
                }
                figures.check("code left behind", Double(left), unit: "times", truth: 0, most: 0)
            }
        }
    }
}
