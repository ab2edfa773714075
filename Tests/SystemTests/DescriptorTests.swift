import Glibc
import System
import TestSupport
import Testing

/// Calls that a signal interrupts, or that do less than requested, behind the files' seam.
private final class Calls {
    /// What the next calls do: a number of bytes, or minus an `errno`.
    var answers: [Int]
    private(set) var count = 0
    private(set) var written: [UInt8] = []

    init(_ answers: [Int]) { self.answers = answers }

    private func next(_ room: Int) -> Int {
        count += 1
        let answer = answers.isEmpty ? room : answers.removeFirst()
        if answer < 0 { errno = Int32(-answer) }
        return answer < 0 ? -1 : min(answer, room)
    }

    func read(_ start: UnsafeMutableRawPointer?, _ room: Int) -> Int {
        let got = next(room)
        for offset in 0..<max(0, got) {
            start?.storeBytes(
                of: UInt8(truncatingIfNeeded: count), toByteOffset: offset, as: UInt8.self)
        }
        return got
    }

    func write(_ start: UnsafeRawPointer?, _ size: Int) -> Int {
        let got = next(size)
        if got > 0, let start { written += UnsafeRawBufferPointer(start: start, count: got) }
        return got
    }
}

@Suite struct DescriptorTests {
    private let interrupted = -Int(EINTR)

    @Test func `an interrupted call is made again, and a short one goes on`() throws {
        let calls = Calls([interrupted, 2, interrupted, interrupted, 1, 3, 0])
        let file = try Descriptor("/dev/null")
        let bytes = try file.bytes(count: 100) { _, start, room in calls.read(start, room) }
        #expect(bytes == [2, 2, 5, 6, 6, 6])
        #expect(calls.count == 7)
    }

    @Test func `no more is read than is wanted`() throws {
        let calls = Calls([3, 3, 3])
        let file = try Descriptor("/dev/null")
        #expect(try file.bytes(count: 5) { calls.read($1, $2) }.count == 5)
        #expect(calls.count == 2)
        #expect(try file.bytes(count: 0) { calls.read($1, $2) }.isEmpty)
        #expect(calls.count == 2)
    }

    @Test(arguments: [1, 1000, 64 << 10, (64 << 10) + 1, 300_000])
    func `files are read whole, whether or not their size is known`(size: Int) throws {
        let scratch = try Scratch()
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        try Descriptor(scratch.path("file"), O_WRONLY | O_CREAT, mode: 0o600).write(bytes)
        #expect(try WholeFile.bytes(of: scratch.path("file"), limit: size) == bytes)
        #expect(try WholeFile.bytes(ofRegular: scratch.path("file"), limit: size) == bytes)
        #expect(
            try WholeFile.beginning(of: scratch.path("file"), count: 10) == Array(bytes.prefix(10)))
        let end = try Descriptor(scratch.path("file")).bytes(at: UInt64(size / 2), count: size)
        #expect(end == Array(bytes[(size / 2)...]))
    }

    @Test func `what went wrong is told`() throws {
        let file = try Descriptor("/dev/null")
        let calls = Calls([5, -Int(EIO)])
        #expect(throws: Errno(EIO)) { try file.bytes(count: 100) { calls.read($1, $2) } }
        #expect(throws: Errno(ENOENT)) { _ = try Descriptor("/none").number }
        #expect(throws: Errno(ENOSPC)) { try Descriptor("/dev/full", O_WRONLY).write([1]) }
        #expect(throws: Errno(EISDIR)) { try Descriptor("/").bytes(count: 1) }
        #expect(Errno(ENOENT).description == "No such file or directory")
    }

    @Test func `all is written, however little at once`() throws {
        let file = try Descriptor("/dev/null", O_WRONLY)
        let calls = Calls([interrupted, 1, 2, interrupted])
        try file.write([1, 2, 3, 4, 5, 6]) { calls.write($1, $2) }
        #expect(calls.written == [1, 2, 3, 4, 5, 6])
        #expect(calls.count == 5)
        // A write of nothing would be repeated for ever.
        let idle = Calls([0])
        #expect(throws: Errno(EIO)) { try file.write([1]) { idle.write($1, $2) } }
    }

    @Test func `a file of somebody else's choosing is a regular one, and no larger than allowed`()
        throws
    {
        let scratch = try Scratch()
        try Descriptor(scratch.path("file"), O_WRONLY | O_CREAT, mode: 0o600).write([1, 2, 3])
        let read = { (name: String, limit: Int, owner: UInt32?) throws(Errno) in
            try WholeFile.bytes(ofRegular: scratch.path(name), limit: limit, owner: owner)
        }
        #expect(try read("file", 3, nil) == [1, 2, 3])
        #expect(try read("file", 3, geteuid()) == [1, 2, 3])
        #expect(throws: Errno(EFBIG)) { try read("file", 2, nil) }
        #expect(throws: Errno(EFBIG)) { try WholeFile.bytes(of: scratch.path("file"), limit: 2) }
        #expect(throws: Errno(EPERM)) { try read("file", 3, geteuid() + 1) }
        #expect(symlink("file", scratch.path("link")) == 0)
        #expect(try read("link", 3, nil) == [1, 2, 3])
        #expect(throws: Errno.self) { try read("link", 3, geteuid()) }
        #expect(mkfifo(scratch.path("pipe"), 0o600) == 0)
        #expect(throws: Errno(EMEDIUMTYPE)) { try read("pipe", 3, nil) }
        #expect(throws: Errno(EMEDIUMTYPE)) { try read(".", 3, nil) }
        // The pipe has no writer, and the call does not wait for one.
        #expect(try WholeFile.bytes(of: scratch.path("pipe"), limit: 3).isEmpty)
    }

    @Test func `a descriptor is closed once, or given away`() throws {
        func isOpen(_ number: Int32) -> Bool { fcntl(number, F_GETFD) != -1 }
        // Other tests open files, too, so a number may be reused as soon as it is closed.
        let given = try Descriptor("/dev/null").release()
        #expect(isOpen(given))
        #expect(fcntl(given, F_GETFD) & FD_CLOEXEC != 0)
        #expect(close(given) == 0)
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        try Descriptor(owning: ends[1]).finish()
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
    }

    @Test func `who has a lock keeps others from it`() throws {
        let scratch = try Scratch()
        let flags = O_RDWR | O_CREAT
        let first = try Descriptor(scratch.path("lock"), flags, mode: 0o600)
        let second = try Descriptor(scratch.path("lock"), flags, mode: 0o600)
        #expect(try first.lock(waiting: true))
        #expect(try !second.lock(waiting: false))
        try first.finish()
        #expect(try second.lock(waiting: false))
    }
}

@Suite struct DescriptorReserveTests {
    /// Half of a small limit, all but 256 of a large one; and always enough for a recording.
    @Test(
        arguments: [
            (0, 0), (32, 0), (35, 3), (40, 8), (64, 32), (96, 48), (512, 256), (1024, 768),
            (1 << 20, 1 << 20 - 256), (.max, UInt64(Int32.max) - 256),
        ] as [(UInt64, UInt64)])
    func theNumberOfKeptDescriptors(limit: UInt64, kept: UInt64) {
        #expect(DescriptorReserve.kept(of: limit) == kept)
    }

    @Test func lowNumbersMayBeKept() {
        #expect(DescriptorReserve.leaves(3))
        #expect(!DescriptorReserve.leaves(.max))
    }
}
