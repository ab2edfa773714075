import Foundation
import Testing

@testable import Unwind

/// Bytes of a file at the addresses that it has for them.
@Suite struct ELFFileTests {
    @Test func aFilesOwnBytes() throws {
        let path = "/bin/true"
        let file = try #require(ELFFile(path: path, inode: 0))
        let content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        // The first segment holds the header, at address 0 in position independent files.
        #expect(file.bytes(at: 0, count: 64) == Array(content[..<64]))
        let text = try #require(file.range(ofSection: ".text"))
        let section = try #require(file.contents(ofSection: ".text"))
        let code = try #require(file.bytes(at: text.lowerBound, count: section.bytes.count))
        #expect(code == [UInt8](section.bytes))
        #expect(file.bytes(at: text.upperBound &+ 1 << 30, count: 1) == nil)
        #expect(file.bytes(at: UInt64.max, count: 7) == nil)
        #expect(file.bytes(at: text.lowerBound, count: content.count) == nil)
    }

    /// Asked for every place once: what is read is not kept, and not searched.
    @Test func everyPlaceOnce() throws {
        let file = try #require(ELFFile(path: "/bin/true", inode: 0))
        let text = try #require(file.range(ofSection: ".text"))
        let section = try #require(file.contents(ofSection: ".text"))
        let read = text.dropLast().reduce(into: [UInt8]()) { bytes, address in
            bytes += file.bytes(at: address, count: 2)?.prefix(1) ?? []
        }
        #expect(read == [UInt8](section.bytes.dropLast()))
    }

    @Test func theVdsoIsInMemory() throws {
        let file = try #require(ELFFile.vdso())
        #expect(file.bytes(at: 0, count: 4) == [0x7F, 0x45, 0x4C, 0x46])
        #expect(file.bytes(at: 0, count: 1 << 20) == nil)
    }
}
