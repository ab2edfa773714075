package import Foundation
import Glibc

/// Other processes, from /proc.
package enum Proc {
    package static func contents(_ path: String) -> String? {
        // Files of /proc have the size 0, which FileManager would believe.
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A field of `/proc/PID/status`, for example `SigCgt`.
    package static func status(_ pid: pid_t, _ field: String, task: pid_t? = nil) -> String? {
        let folder = task.map { "/proc/\(pid)/task/\($0)" } ?? "/proc/\(pid)"
        let lines = contents("\(folder)/status")?.split(separator: "\n")
        guard let line = lines?.first(where: { $0.hasPrefix(field + ":") }) else { return nil }
        return line.dropFirst(field.count + 1).trimmingCharacters(in: .whitespaces)
    }

    /// One letter, for example `R`, `S`, `T` (stopped), `t` (stopped by a tracer).
    package static func state(_ pid: pid_t) -> Character? { status(pid, "State")?.first }

    package static func isTraced(_ pid: pid_t) -> Bool { status(pid, "TracerPid") != "0" }

    /// How often its threads have given up their cores.
    package static func switches(_ pid: pid_t) -> Int {
        tasks(pid).compactMap { status(pid, "voluntary_ctxt_switches", task: $0) }
            .compactMap { Int($0) }.reduce(0, +)
    }

    package static func tasks(_ pid: pid_t) -> [pid_t] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
        return (names ?? []).compactMap { pid_t($0) }.sorted()
    }

    /// Whether a recorder's recording is over, and it only waits for its program: its first thread
    /// waits for signals (rt_sigtimedwait).
    package static func onlyWaits(_ recorder: pid_t) -> Bool {
        contents("/proc/\(recorder)/syscall")?.hasPrefix("128 ") == true
    }

    package static func children(of parent: pid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { status($0, "PPid") == String(parent) }
    }

    /// The main thread's CPU time so far, according to the scheduler, in nanoseconds.
    package static func cpuTime(_ pid: pid_t) -> Int64? {
        contents("/proc/\(pid)/schedstat")?.split(separator: " ").first.flatMap { Int64($0) }
    }

    package static func program(_ pid: pid_t) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")
    }

    /// Calls `look` until there is a value.
    package static func waitFor<Value>(
        _ what: String, limit: TimeInterval = 300, _ look: () -> Value?
    ) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: limit)
        while Date() < deadline {
            if let value = look() { return value }
            // Leaves the cores to the awaited process.
            poll(nil, 0, 1)
        }
        throw Command.Failure(description: "\(what): did not happen within \(limit) s")
    }

    /// Calls `isSo` until it is true.
    package static func waitUntil(_ what: String, _ isSo: () -> Bool) throws {
        _ = try waitFor(what) { isSo() ? true : nil }
    }

    /// The program that a recorder started, once its process runs `program`.
    package static func recordedProgram(of recorder: pid_t, running program: String) throws -> pid_t
    {
        try waitFor("the start of \(program)") { recorded(by: recorder, running: program) }
    }

    /// The program that a recorder started; nil: its process does not run `program`, or no longer.
    package static func recorded(by recorder: pid_t, running program: String) -> pid_t? {
        children(of: recorder).first { self.program($0) == program }
    }
}
