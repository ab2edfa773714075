import Glibc
import ProfileModel
import System
import TestSupport
import Testing
import Unwind

@testable import ProcessIO
@testable import Sampler

/// Programs that tests need. Missing ones skip the tests, except in CI.
enum Tools {
    static func has(_ name: String) -> Bool {
        if environment("CI") == "true" { return true }
        return environment("PATH").split(separator: ":").contains {
            access("\($0)/\(name)", X_OK) == 0
        }
    }

    private static func environment(_ name: String) -> String {
        getenv(name).map { String(cString: $0) } ?? ""
    }
}

extension Scratch {
    /// Compiles a program, and returns its path.
    ///
    /// - Parameter compiler: nil: GCC's.
    func compile(
        _ source: Source, _ options: [String], by compiler: String? = nil
    ) throws -> String {
        let file = "subject." + source.suffix
        try write(source.text, to: file)
        let command = [
            compiler ?? source.compiler, "-o", path("subject"), path(file), "-pthread",
        ]
        try run(command + options)
        return path("subject")
    }
}

/// The programs that tests look into.
enum Source {
    /// ``SubjectSource``.
    case subject
    /// ``ShapesSource``.
    case shapes

    var text: String {
        switch self {
        case .subject: SubjectSource.text
        case .shapes: ShapesSource.text
        }
    }

    var suffix: String {
        switch self {
        case .subject: "c"
        case .shapes: "cpp"
        }
    }

    var compiler: String {
        switch self {
        case .subject: "gcc"
        case .shapes: "g++"
        }
    }
}

/// The running program, waiting for a byte that the test may send. Killed in the end.
final class Subject: Sendable {
    let pid: Int32
    private let input: Int32

    init(_ program: String, _ what: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CommandFailure(command: ["pipe"], status: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        input = ends[1]
        defer { close(ends[0]) }
        pid = try spawn([program, what], input: ends[0], output: "/dev/null")
    }

    deinit {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, Int32(bitPattern: 0x4000_0000)) < 0, errno == EINTR {}
        close(input)
    }

    /// Lets the program go on from where it waits, `times` times.
    func send(times: Int) {
        let bytes = [UInt8](repeating: 7, count: times)
        _ = write(input, bytes, bytes.count)
    }

    /// Until one of its threads is in read(2), and each other one waits for a thread's end: 20 s
    /// are more than any machine needs.
    func waitUntilReading() -> Bool {
        let end = MonotonicTime.now + .milliseconds(20_000)
        while MonotonicTime.now < end {
            let calls = threads.map { tid in
                var buffer = ReadBuffer()
                buffer.readAll(path: "/proc/\(pid)/task/\(tid)/syscall")
                return String(decoding: buffer.contents, as: UTF8.self)
            }
            let reading = calls.filter { $0.hasPrefix("0 0x0 ") }.count
            let joining = calls.filter { $0.hasPrefix("202 ") }.count
            if reading == 1, reading + joining == calls.count { return true }
            sched_yield()
        }
        return false
    }

    var threads: [Int32] { ProcessFiles(pid: pid).threadIDs().sorted() }
}
