import Glibc
import TestSupport
import Testing

@testable import Agent
@testable import Images
@testable import Sampler

/// Programs' files, made up.
@Suite struct PreparedSitesTests {
    private struct Part {
        var kind: UInt32 = 1
        var flags: UInt32 = 5
        var offset: UInt64
        var address: UInt64
        var size: UInt64
    }

    private static func file(_ parts: [Part], code: [UInt8], at offset: Int) -> [UInt8] {
        var all: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 57)
        all.replaceSubrange(32..<40, with: number(UInt64(64)))
        all.replaceSubrange(54..<56, with: number(UInt16(56)))
        all.replaceSubrange(56..<58, with: number(UInt16(parts.count)))
        for part in parts {
            all += number(part.kind) + number(part.flags)
            all += number(part.offset) + number(part.address)
            all += number(part.address) + number(part.size)
            all += number(part.size) + number(UInt64(4096))
        }
        all += [UInt8](repeating: 0x90, count: max(0, offset - all.count))
        return all + code
    }

    private static func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        bytes(of: value)
    }

    private static func call(_ number: UInt8) -> [UInt8] { [0xB8, number, 0, 0, 0, 0x0F, 0x05] }

    /// As if the file had been loaded at its own addresses, which are those of our own memory.
    private static func found(_ bytes: [UInt8], headers count: Int) throws -> CallSites? {
        let scratch = try Scratch()
        let path = try scratch.write(String(decoding: [], as: UTF8.self), to: "program")
        let file = open(path, O_WRONLY | O_TRUNC)
        try #require(file >= 0)
        #expect(bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } == bytes.count)
        close(file)
        guard let prepared = PreparedSites(path: path) else { return nil }
        let memory = MadeMemory(Array(bytes.dropFirst(64).prefix(56 * count)))
        let address = UInt64(UInt(bitPattern: memory.start))
        let image = try #require(
            LoadedImage(
                programHeaders: address, count: UInt64(count), memory: MadeImage.memory,
                headerAddress: 0x40_0000))
        defer { withExtendedLifetime(memory) {} }
        return prepared.moved(to: image, headers: address)
    }

    @Test func eachCallThatIsThereOnce() throws {
        let code =
            [0xCC] + Self.call(13) + Self.call(59) + Self.call(59) + Self.call(14) + [0xB8, 157]
        let part = Part(offset: 256, address: 0x40_1000, size: UInt64(code.count))
        let sites = try #require(
            try Self.found(
                Self.file(
                    [Part(flags: 4, offset: 0, address: 0x40_0000, size: 256), part], code: code,
                    at: 256), headers: 2))
        #expect(sites[.sigaction] == 0x40_1001)
        #expect(sites[.execve] == nil && sites[.sigmask] == nil && sites[.prctl] == nil)
    }

    @Test func dynamicProgramsHaveNoSites() throws {
        let code = Self.call(13)
        let part = Part(offset: 256, address: 0x40_1000, size: 7)
        let linker = Part(kind: 3, flags: 4, offset: 0, address: 0x40_0000, size: 1)
        #expect(try Self.found(Self.file([part, linker], code: code, at: 256), headers: 2) == nil)
        var cut = Self.file([part], code: code, at: 256)
        cut.removeLast(200)
        #expect(try Self.found(cut, headers: 1)?[.sigaction] == nil)
        for (offset, size) in [(UInt64.max, 7), (256, .max), (256, 1 << 28)] as [(UInt64, UInt64)] {
            let wrong = Part(offset: offset, address: 0x40_1000, size: size)
            #expect(try Self.found(Self.file([wrong], code: code, at: 256), headers: 1) == nil)
        }
        for path in ["/nonexistent", "/", "/dev/null", "/bin/sh"] {
            #expect(PreparedSites(path: path) == nil, "\(path)")
        }
    }

    /// An image that is not the file's: nothing that was found there holds.
    @Test func anotherImage() throws {
        let bytes = Self.file(
            [Part(offset: 256, address: 0x40_1000, size: 7)], code: Self.call(13), at: 256)
        let scratch = try Scratch()
        let path = try scratch.write("", to: "program")
        let file = open(path, O_WRONLY)
        _ = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        close(file)
        let prepared = try #require(PreparedSites(path: path))
        let image = try MadeImage([.init(flags: 5, start: 0x1000, size: 100)]).image()
        #expect(prepared.moved(to: image, headers: 0x1000) == nil)
    }
}
