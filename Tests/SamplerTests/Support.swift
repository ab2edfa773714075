import CSystem
import Glibc
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// A text as `/proc` would hand it out.
func text(_ string: String) -> ProcText { ProcText(Array(string.utf8)) }

/// getauxval(3), whose header is outside of the Glibc module.
func auxiliaryValue(_ key: UInt) -> UInt64 {
    typealias Function = @convention(c) (UInt) -> UInt
    guard let address = dlsym(nil, "getauxval") else { return 0 }
    return UInt64(unsafeBitCast(address, to: Function.self)(key))
}

extension SeededNumbers {
    /// The text with a few of its bytes replaced, removed or doubled.
    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: 0..<4, using: &self) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes[index] = Array("0 9f-\n)xA".utf8).randomElement(using: &self) ?? 0
            }
        }
        return bytes
    }
}

/// Whether the kernel sends a thread of ours a signal for its own code; under CI it has to.
let mayInterrupt: Bool = {
    let event = fl_open_interruption(getpid(), SIGURG, 1_000_000_000)
    if event >= 0 { close(event) }
    return event >= 0 || isContinuousIntegration
}()

/// A child process with its standard input in the test's hands; killed and waited for in the end.
final class Child {
    let pid: Int32

    /// - Parameter input: its descriptor 0; the caller keeps and closes its own.
    init(_ command: [String], input: Int32 = 0, output: String = "/dev/null") throws {
        pid = try spawn(command, input: input, output: output)
    }

    /// Waits for its end and returns the status.
    func end() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, Int32(bitPattern: 0x4000_0000)) < 0, errno == EINTR {}
        return status
    }

    deinit { Self.end(pid) }

    /// Kills a child and waits for its end. A child that we trace stops before that. A test that
    /// takes this stop for the end leaves a zombie, and the monitor of exit tests spins for as long
    /// as there is one.
    static func end(_ pid: Int32) {
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while fl_wait(pid, 0, &status) == pid, status & 0x7F == 0x7F {
            try? Tracee(tid: pid).resume()
        }
    }
}

/// Two connected descriptors: a pipe's or a socket's ends.
struct Connection: ~Copyable {
    let ends: [Int32]

    init(isSocket: Bool) throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue)
        let made = isSocket ? socketpair(AF_UNIX, kind, 0, &ends) : pipe(&ends)
        self.ends = ends
        try #require(made == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        ends.forEach { close($0) }
    }
}

/// Asks until the answer is yes, for as long as a busy machine may need.
func eventually(_ condition: () -> Bool) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let end = now.tv_sec + 20
    while !condition() {
        sched_yield()
        clock_gettime(CLOCK_MONOTONIC, &now)
        if now.tv_sec > end { return false }
    }
    return true
}
