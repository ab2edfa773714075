import ProfileModel
import Testing

@testable import Agent
@testable import Sampler

/// Where a file's code is, by the beginning of it as it is mapped.
@Suite struct NotedLibraryTests {
    private struct Segment {
        var kind: UInt32
        var flags: UInt32
        var offset: UInt64
        var address: UInt64
        var size: UInt64
    }

    private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// With a build id at 512.
    private static func file(_ segments: [Segment]) -> [UInt8] {
        var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1]
        file += [UInt8](repeating: 0, count: 32 - file.count) + bytes(64 as UInt64)
        file += [UInt8](repeating: 0, count: 56 - file.count)
        file += bytes(UInt16(segments.count))
        file += [UInt8](repeating: 0, count: 64 - file.count)
        for segment in segments {
            file += bytes(segment.kind) + bytes(segment.flags) + bytes(segment.offset)
            file += bytes(segment.address) + bytes(segment.address) + bytes(segment.size)
            file += bytes(segment.size) + bytes(4096 as UInt64)
        }
        file += [UInt8](repeating: 0, count: 512 - file.count)
        file += bytes(4 as UInt32) + bytes(3 as UInt32) + bytes(3 as UInt32)
        file += [0x47, 0x4E, 0x55, 0, 7, 8, 9, 0]
        return file + [UInt8](repeating: 0, count: 1024 - file.count)
    }

    /// As linkers make it: headers and notes, then code.
    private static func segments(from base: UInt64) -> [Segment] {
        [
            Segment(kind: 1, flags: 4, offset: 0, address: base, size: 0x600),
            Segment(kind: 1, flags: 5, offset: 0x1000, address: base &+ 0x1000, size: 0x1234),
            Segment(kind: 4, flags: 4, offset: 512, address: base &+ 512, size: 20),
        ]
    }

    /// A program that is not moved has addresses of its own.
    @Test(
        arguments: [
            (0, 0x7F00_0000_0000), (0x400000, 0x400000), (0x10000, 0x7F00_0000_0000),
        ] as [(UInt64, UInt64)])
    func code(base: UInt64, address: UInt64) {
        let noted = NotedLibrary(
            path: "/a", address: address, start: Self.file(Self.segments(from: base)))
        let code = noted.code
        #expect(code.map(\.start) == [address + 0x1000])
        #expect(code.map(\.end) == [address + 0x3000])
        #expect(code.map(\.fileOffset) == [0x1000])
        #expect(code.map(\.buildID) == [[7, 8, 9]])
        #expect(noted.size == 0x2234 && noted.name == "a")
        #expect(NotedLibrary(path: "", address: address, start: noted.start).code.isEmpty)
    }

    /// The program can write anything there.
    @Test func damage() {
        var below = Self.segments(from: 0x400000)
        below[1].address = 0x1000
        var without = Self.segments(from: 0)
        without[2].kind = 5
        var huge = Self.segments(from: 0)
        huge[1].size = .max - 0x1000
        let files = [below, without, huge, Self.segments(from: .max - 4095), []].map(Self.file)
        for file in files + files.map({ Array($0.prefix(100)) }) + [[]] {
            let last = UInt64.max - 4095
            for address in [0, 0x400000, last] {
                let code = NotedLibrary(path: "/a", address: address, start: file).code
                #expect(code.allSatisfy { $0.start < $0.end })
                #expect(NotedLibrary(path: "/a", address: address, start: file).size >= 0)
            }
        }
        let left = NotedLibrary(path: "/a", address: 0x400000, start: files[0]).code
        #expect(left.isEmpty)
        let unnamed = NotedLibrary(path: "/a", address: 0x400000, start: files[1]).code
        #expect(unnamed.isEmpty)
    }
}
