import ProfileModel
import TestSupport
import Testing

@testable import ProcessIO
@testable import Sampler

/// Records as the kernel writes them, byte by byte.
@Suite struct PerfRecordsTests {
    private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    private static func record(_ kind: UInt32, flags: UInt16 = 0, _ body: [UInt8]) -> [UInt8] {
        bytes(kind) + bytes(flags) + bytes(UInt16(8 + body.count)) + body
    }

    /// What every record ends with, and a sample begins with.
    private static func identity(
        pid: Int32 = 7, tid: Int32 = 8, time: Int64 = 1000, core: Int32 = 3
    ) -> [UInt8] {
        bytes(pid) + bytes(tid) + bytes(time) + bytes(core) + bytes(Int32(0))
    }

    /// They last as long as the tests.
    private static func read(_ bytes: [UInt8]) -> [PerfRecords.Record] {
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        kept.copyBytes(from: bytes)
        var found: [PerfRecords.Record] = []
        _ = PerfRecords.forEach(in: UnsafeRawBufferPointer(kept)) { found.append($0) }
        return found
    }

    private static func waking(
        _ tid: Int32, by waker: Int32, flags: UInt8, type: UInt16 = 375
    ) -> [UInt8] {
        let raw =
            bytes(type) + [flags, 0] + bytes(waker) + [UInt8](repeating: 0x61, count: 16)
            + bytes(tid) + bytes(Int32(120)) + bytes(Int32(0))
        return record(9, identity() + bytes(UInt32(raw.count)) + raw)
    }

    private static func stopping(_ tid: Int32) -> [UInt8] {
        let raw =
            bytes(UInt16(372)) + [0, 0] + bytes(tid) + [UInt8](repeating: 0x61, count: 16)
            + bytes(tid) + bytes(Int32(120)) + bytes(Int64(8)) + [UInt8](repeating: 0, count: 24)
        return record(9, identity() + bytes(UInt32(raw.count)) + raw)
    }

    private static func points() throws -> SchedulerTracepoints {
        let switching = try #require(TracepointFormat(TracepointFormatTests.switching))
        let waking = try #require(TracepointFormat(TracepointFormatTests.waking))
        return try #require(SchedulerTracepoints(switching: switching, waking: waking))
    }

    @Test(
        arguments: [
            (14, 0, .arrived(core: 3)), (14, 1 << 13, .left(.waiting, core: 3)),
            (14, 3 << 13, .left(.pushed, core: 3)), (15, 0, .arrived(core: 3)),
            (15, 1 << 13, .left(.waiting, core: 3)), (15, 3 << 13, .left(.pushed, core: 3)),
            (4, 0, .ended),
        ] as [(UInt32, UInt16, SchedulerRecord.Kind)])
    func switches(kind: UInt32, flags: UInt16, expected: SchedulerRecord.Kind) throws {
        // Whatever comes before the end.
        let body = kind == 14 ? [] : [UInt8](repeating: 0xEE, count: kind == 4 ? 24 : 8)
        let found = Self.read(Self.record(kind, flags: flags, body + Self.identity()))
        let record = try #require(found.first)
        #expect(found.count == 1)
        #expect(record.switching == expected)
        #expect(record.tid == 8 && record.core == 3)
        #expect(record.time == MonotonicTime(nanoseconds: 1000))
    }

    @Test func newThreads() throws {
        let body =
            Self.bytes(Int32(7)) + Self.bytes(Int32(1)) + Self.bytes(Int32(12))
            + Self.bytes(Int32(8)) + Self.bytes(Int64(999))
        let record = try #require(Self.read(Self.record(7, body + Self.identity())).first)
        #expect(record.child?.pid == 7 && record.child?.tid == 12)
        #expect(record.tid == 8 && record.switching == nil)
    }

    private static func mapping(
        start: UInt64 = 0x1000, size: UInt64 = 0x2000, path: String = "/usr/lib/libx.so"
    ) -> [UInt8] {
        let name = Array(path.utf8) + [UInt8](repeating: 0, count: 8 - path.utf8.count % 8)
        let place = bytes(start) + bytes(size) + bytes(UInt64(0x3000))
        let file = bytes(UInt32(8)) + bytes(UInt32(1)) + bytes(UInt64(77)) + bytes(UInt64(2))
        let body = bytes(Int32(7)) + bytes(Int32(8)) + place + file + bytes(UInt64(5)) + name
        return record(10, body + identity())
    }

    @Test(arguments: ["/usr/lib/libx.so", "[vdso]", "//anon", "/a b\n"])
    func mappedCode(path: String) throws {
        let record = try #require(Self.read(Self.mapping(path: path)).first)
        #expect(record.process == 7)
        let mapping = try #require(record.mapping)
        #expect(mapping.start == 0x1000 && mapping.end == 0x3000 && mapping.fileOffset == 0x3000)
        #expect(mapping.path == (path == "//anon" ? "" : path) && mapping.inode == 77)
        #expect(record.switching == nil && record.child == nil)
    }

    @Test(arguments: [(0x1000, 0), (UInt64.max, 2)] as [(UInt64, UInt64)])
    func mappingsThatCannotBe(start: UInt64, size: UInt64) throws {
        let record = try #require(Self.read(Self.mapping(start: start, size: size)).first)
        #expect(record.mapping == nil)
    }

    @Test func execs() throws {
        let body = Self.bytes(Int32(7)) + Self.bytes(Int32(7)) + Array("sh\0\0\0\0\0\0".utf8)
        for (flags, isExec) in [(1 << 13, true), (0, false)] as [(UInt16, Bool)] {
            let all = Self.record(3, flags: flags, body + Self.identity(tid: 7))
            let record = try #require(Self.read(all).first)
            #expect(record.isExec == isExec && record.process == 7 && record.tid == 7)
            #expect(record.name == "sh")
        }
        let other = try #require(Self.read(Self.record(4, flags: 1 << 13, body)).first)
        #expect(!other.isExec)
    }

    @Test(
        arguments: [
            (0, false), (0x08, true), (0x10, true), (0x40, true), (0x18, true),
            // Interrupts are off, a switch is due, bottom halves are off: still the thread itself.
            (0x01, false), (0x04, false), (0x20, false), (0x80, false),
        ] as [(UInt8, Bool)])
    func wakings(flags: UInt8, isInterrupt: Bool) throws {
        let record = try #require(Self.read(Self.waking(12, by: 34, flags: flags)).first)
        #expect(try Self.points().event(record) == .woken(12, by: 34, isInterrupt: isInterrupt))
    }

    @Test func otherTracepoints() throws {
        let points = try Self.points()
        let stop = try #require(Self.read(Self.stopping(12)).first)
        #expect(points.event(stop) == .stopping(12))
        let other = try #require(Self.read(Self.waking(1, by: 2, flags: 0, type: 9)).first)
        #expect(points.event(other) == nil)
        let switching = try #require(Self.read(Self.record(14, Self.identity())).first)
        #expect(points.event(switching) == nil)
    }

    /// The raw data end before the field does.
    @Test(arguments: 0..<28) func shortRawData(size: Int) throws {
        var bytes = Self.waking(12, by: 34, flags: 0)
        bytes.replaceSubrange(32..<36, with: Self.bytes(UInt32(size)))
        let record = try #require(Self.read(bytes).first)
        #expect(try Self.points().event(record) == nil)
    }

    @Test func oneAfterTheOther() {
        let others = Self.record(1, [1, 2, 3, 4]) + Self.record(77, [])
        let all =
            Self.record(14, Self.identity(tid: 1)) + others
            + Self.record(2, Self.identity(tid: 2)) + Self.record(4, Self.identity(tid: 3))
        let found = Self.read(all)
        #expect(found.map(\.kind) == [.switch, .lost, .exit])
        #expect(found.map(\.tid) == [1, 2, 3])
    }

    @Test(arguments: [0, 1, 7, 9, 65535] as [UInt16]) func sizesThatCannotBe(size: UInt16) {
        var bytes = Self.record(14, Self.identity())
        bytes.replaceSubrange(6..<8, with: Self.bytes(size))
        for record in Self.read(bytes) {
            // A record of nine bytes has nothing to say.
            #expect(record.tid == nil && record.time == nil && record.switching == nil)
        }
    }

    @Test(arguments: 1...300) func damagedRecordsDoNoHarm(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let points = try Self.points()
        let whole =
            Self.waking(12, by: 34, flags: 8) + Self.stopping(1)
            + Self.record(14, Self.identity()) + Self.record(4, Self.identity())
            + Self.mapping()
        for record in Self.read(random.mutated(whole)) {
            _ = (points.event(record), record.switching, record.child, record.time, record.core)
            _ = (record.mapping, record.isExec, record.process, record.name)
        }
    }
}
