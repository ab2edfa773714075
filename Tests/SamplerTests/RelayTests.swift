import CSystem
import Glibc
import Synchronization
import System
import TestSupport
import Testing

@testable import ProcessIO
@testable import Readiness
@testable import Sampler

@Suite struct RelayTests {
    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    private func pipeEnds() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        let code = pipe(&ends)
        try #require(code == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// Returns the relay's output for these chunks, and whether it found the text.
    private func relay(_ chunks: [[UInt8]], text: String) throws -> (bytes: [UInt8], found: Bool) {
        let ends = try pipeEnds()
        var input: Int32 = -1
        let relay = try OutputRelay(to: ends[1], for: text, input: &input)
        close(ends[1])
        for chunk in chunks where !chunk.isEmpty {
            #expect(write(input, chunk, chunk.count) == chunk.count)
        }
        let found = relay.drain(SignalQueue()) != nil
        close(input)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(ends[0], &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        close(ends[0])
        return (bytes, found)
    }

    /// Texts of two letters are nearly found all the time.
    @Test func everythingPassesAndTheTextIsFound() throws {
        var random = SeededNumbers(seed: 11)
        for _ in 0..<150 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Bool.random(using: &random) ? "a" : "b"
            }.joined()
            let chunks = (0..<4).map { _ in
                (0..<Int.random(in: 0...6, using: &random)).map { _ in
                    Array("aaabbb\n".utf8).randomElement(using: &random) ?? 0
                }
            }
            let result = try relay(chunks, text: text)
            let all = chunks.flatMap { $0 }
            #expect(result.bytes == all)
            let isThere = String(decoding: all, as: UTF8.self).contains(text)
            #expect(result.found == isThere, "'\(text)' in \(chunks)")
        }
    }

    /// The reader is gone, though nothing was written since: the relay ends.
    @Test func aSocketThatIsClosed() throws {
        var ends: [Int32] = [-1, -1]
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let code = socketpair(AF_UNIX, flags, 0, &ends)
        try #require(code == 0)
        var input: Int32 = -1
        let relay = try OutputRelay(to: ends[1], for: "", input: &input)
        close(ends[1])
        // It passes on.
        #expect(write(input, "a", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1)
        close(ends[0])
        var entry = pollfd(fd: input, events: 0, revents: 0)
        #expect(poll(&entry, 1, 30_000) == 1)
        #expect(entry.revents & Int16(POLLERR) != 0)
        #expect(throws: SystemError.self) { while try relay.news() != nil {} }
        close(input)
    }

    /// The next process that opens a named pipe reads on.
    @Test func aNamedPipesNextReader() throws {
        let scratch = try Scratch()
        let path = scratch.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        func openReader() -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) }
        var reader = openReader()
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        var input: Int32 = -1
        let relay = try OutputRelay(to: writer, for: "", input: &input)
        close(writer)
        close(reader)
        // The relay has looked since.
        relay.drain(SignalQueue())
        reader = openReader()
        #expect(write(input, "b", 1) == 1)
        var byte: UInt8 = 0
        #expect(eventually { read(reader, &byte, 1) == 1 })
        #expect(byte == UInt8(ascii: "b"))
        close(input)
        close(reader)
    }

    /// A process that the program leaves behind may write for ever: the relay waits only for output
    /// that exists when it is asked.
    @Test func endlessOutputIsNotAwaited() throws {
        let ends = try pipeEnds()
        var input: Int32 = -1
        let relay = try OutputRelay(to: ends[1], for: "never", input: &input)
        close(ends[1])
        let writer = try Child(["yes"], output: "/proc/\(getpid())/fd/\(input)")
        close(input)
        let isDrained = Flag()
        #expect(
            startThread {
                relay.drain(SignalQueue())
                isDrained.set()
            })
        // Slowly.
        var buffer = [UInt8](repeating: 0, count: 64)
        #expect(
            eventually {
                read(ends[0], &buffer, buffer.count) > 0 && isDrained.isSet
            })
        close(ends[0])
        _ = writer
    }

    /// A changed terminal size may not be reported to us: the relay reads it when output comes.
    @Test func aTerminalsNewSize() throws {
        let screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(screen) }
        // TIOCSPTLCK, TIOCGPTN, TIOCSWINSZ and TIOCGWINSZ, which are macros.
        var lock: Int32 = 0
        var number: UInt32 = 0
        try #require(ioctl(screen, 0x4004_5431, &lock) == 0)
        try #require(ioctl(screen, 0x8004_5430, &number) == 0)
        let user = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(user) }
        var input: Int32 = -1
        let relay = try OutputRelay(to: user, for: "", input: &input)
        defer { close(input) }
        _ = relay
        var size = winsize(ws_row: 11, ws_col: 22, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(screen, 0x5414, &size) == 0)
        #expect(write(input, "a", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(screen, &byte, 1) == 1)
        var known = winsize()
        #expect(ioctl(input, 0x5413, &known) == 0)
        #expect(known.ws_row == 11 && known.ws_col == 22)
    }

    @Test func theFirstByte() throws {
        #expect(try relay([], text: "").found == false)
        #expect(try relay([[0]], text: "").found)
    }

    @Test func sharedStreamsAreRecognised() throws {
        let ends = try pipeEnds()
        let copy = dup(ends[1])
        defer { for descriptor in ends + [copy] { close(descriptor) } }
        #expect(fl_same_stream(ends[1], copy) == 1)
        #expect(fl_same_stream(ends[1], STDIN_FILENO) == 0)
        #expect(fl_same_stream(-1, copy) == 0)
    }
}
