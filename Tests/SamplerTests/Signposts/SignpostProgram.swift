import CSystem
import Glibc
import ProfileModel
import System
import TestSupport
import Testing

@testable import Agent
@testable import Images
@testable import Launching
@testable import ProcessIO
@testable import Sampler

/// One of Tests/Fixtures' programs that says signposts, with a ring that the test reads. It maps the
/// ring itself (`ring.h`); all else is as in a recording.
final class SignpostProgram {
    let signposts: ProgramSignposts
    let child: Child
    private let scratch: Scratch
    private let memory: UnsafeMutableRawPointer
    private let size: Int
    private let input: Connection

    static var hasCompiler: Bool {
        access("/usr/bin/gcc", X_OK) == 0 && access("/usr/bin/g++", X_OK) == 0
            || getenv("CI") != nil
    }

    /// Compiles `source`, starts it with `arguments`, and switches its signposts on.
    init(_ source: String, _ arguments: [String] = [], events: Int = 1 << 15) throws {
        scratch = try Scratch()
        let program = scratch.path("program")
        try Self.compile(source, to: program)

        let ringPath = scratch.path("ring")
        size = SignpostRing.size(events: events)
        let descriptor = open(ringPath, O_RDWR | O_CREAT, 0o600)
        #expect(ftruncate(descriptor, size) == 0)
        memory = try #require(fl_map_memory(descriptor, size))
        close(descriptor)

        input = try Connection(isSocket: false)
        let output = scratch.path("output")
        child = try Child(
            [
                "/usr/bin/env", "FIRSTLIGHT_RING=\(ringPath)",
                "FIRSTLIGHT_TRUTH=\(scratch.path("truth"))", program,
            ] + arguments, input: input.ends[0], output: output)
        try #require(eventually { Self.text(output).contains("\n") })

        let address = try #require(UInt64(Self.text(output).prefix { $0 != "\n" }))
        let ring = SignpostRing(memory: memory, events: events, process: child.pid)
        signposts = ProgramSignposts(ring: ring, address: address)
        let start = AuxiliaryVector(pid: child.pid)
        let image = try #require(
            LoadedImage(
                programHeaders: start.programHeaders, count: start.programHeaderCount,
                memory: TargetMemory(pid: child.pid)))
        let writes = signposts.activation(of: image)
        #expect(writes.count == 3)
        try writes.forEach(write)
    }

    deinit { fl_unmap(memory, size) }

    private static func compile(_ source: String, to program: String) throws {
        let folder = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let isC = source.hasSuffix(".c")
        let compiler = try Child([
            isC ? "gcc" : "g++", isC ? "-std=gnu17" : "-std=c++11", "-O2", "-D_GNU_SOURCE",
            "-pthread", "-I/\(folder)/Sources/CSignpost/include", "-o", program,
            "/\(folder)/Tests/Fixtures/\(source)",
        ])
        try #require(compiler.end() == 0)
    }

    private func write(_ write: MemoryWrite) throws {
        let descriptor = open("/proc/\(child.pid)/mem", O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let count = write.bytes.count
        try #require(pwrite(descriptor, write.bytes, count, off_t(write.address)) == count)
    }

    /// Lets it go on from where it waits.
    func send() { #expect(Glibc.write(input.ends[1], [7], 1) == 1) }

    private(set) var events: [SignpostEvent] = []
    private(set) var results: [SignpostPairing.Result] = []

    func poll() {
        let news = signposts.poll(thread: thread)
        events += news.events
        results += news.results
    }

    private func thread(_ id: Int32) -> ThreadIndex? { ThreadIndex(id == child.pid ? 0 : 1) }

    /// Lets it go on, and reads until it has ended.
    func run() {
        send()
        #expect(
            eventually {
                poll()
                return !isAlive
            })
        finish()
    }

    private var isAlive: Bool {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/\(child.pid)/stat")
        return ProcessImage(buffer.contents)?.isProgram == true
    }

    func finish() {
        let news = signposts.finish(at: .now, thread: thread)
        events += news.events
        results += news.results
    }

    var output: String { Self.text(scratch.path("output")) }

    /// The fixture's own figures.
    var truth: [String: Int64] {
        let lines = Self.text(scratch.path("truth")).split(separator: "\n")
        let pairs = lines.compactMap { line -> (String, Int64)? in
            guard let space = line.lastIndex(of: " "), let value = Int64(line[space...].dropFirst())
            else { return nil }
            return (String(line[..<space]), value)
        }
        return Dictionary(pairs) { first, _ in first }
    }

    var intervals: [Interval] {
        results.compactMap { if case .interval(let interval) = $0 { interval } else { nil } }
    }

    private static func text(_ path: String) -> String {
        var buffer = ReadBuffer()
        buffer.readAll(path: path)
        return String(decoding: buffer.contents, as: UTF8.self)
    }
}
