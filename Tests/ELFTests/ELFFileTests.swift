import CElfutils
import ELF
import Foundation
import Testing

/// The contents of files: real ones, and one that is made up.
@Suite struct ELFFileTests {
    @Test(arguments: [ELFFile.Access.mapped, .read])
    func aFilesOwnBytes(access: ELFFile.Access) throws {
        let path = "/bin/true"
        let file = try ELFFile(path: path, access: access)
        let content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        // The first segment holds the header, at address 0 in position independent files.
        #expect(file.bytes(at: 0, count: 64) == Array(content[..<64]))
        let text = try #require(file.index(ofSection: ".text"))
        let (start, end) = (file.sections[text].address, file.sections[text].end)
        let bytes = [UInt8](file.bytes(ofSection: text))
        #expect(file.bytes(at: start, count: bytes.count) == bytes)
        #expect(file.bytes(at: end &+ 1 << 30, count: 1) == nil)
        #expect(file.bytes(at: UInt64.max, count: 7) == nil)
        #expect(file.bytes(at: start, count: content.count) == nil)
        #expect(file.bytes(from: UInt64(content.count) - 2, count: 9) == content.suffix(2))
        #expect(file.bytes(from: .max, count: 9).isEmpty)
        #expect([UInt8](file.contents) == content)
        #expect(file.path == URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        #expect(file.inode > 0 && !file.wasCutShort)
        #expect(ELFFile.buildID(ofFile: path)?.count == 2 * file.buildID.count)
    }

    /// Every place is requested once: bytes that were read are not kept, and not searched.
    @Test func everyPlaceOnce() throws {
        let file = try ELFFile(path: "/bin/true", access: .read)
        let text = try #require(file.index(ofSection: ".text"))
        let section = file.sections[text]
        let read = (section.address..<section.end).dropLast().reduce(into: [UInt8]()) {
            $0 += file.bytes(at: $1, count: 2)?.prefix(1) ?? []
        }
        #expect(read == [UInt8](file.bytes(ofSection: text).dropLast()))
    }

    @Test func theVdsoIsInMemory() throws {
        let file = try ELFFile.vdso()
        #expect(file.bytes(at: 0, count: 4) == [0x7F, 0x45, 0x4C, 0x46])
        #expect(file.bytes(at: 0, count: 1 << 20) == nil)
        #expect(!file.buildID.isEmpty && file.path == nil && file.inode == 0)
    }

    @Test func allThatAFileTells() throws {
        let file = try ELFFile(MadeELF.whole.bytes)
        #expect(file.machine == UInt16(EM_X86_64))
        #expect(file.buildID == [7, 8, 9])
        #expect(file.interpreter == "/lib/linker.so")
        #expect(file.segments.map(\.isLoaded) == [true, true, false, false])
        #expect(file.segments[1].isExecutable && !file.segments[1].isWritable)
        #expect(file.segments[1].memorySize == 64)
        #expect(
            file.sections.map(\.name) == [
                "", ".text", ".dynsym", ".dynstr", ".note.gnu.build-id", ".interp", ".bss",
                ".packed", ".shstrtab",
            ])
        #expect(file.sections.map(\.isCode).filter(\.self).count == 1)
        let sizes = [".text", ".bss", ".packed"].map { name in
            file.index(ofSection: name).map { file.bytes(ofSection: $0).count }
        }
        #expect(sizes == [32, 0, 0])
        for index in [-1, 99] { #expect(file.bytes(ofSection: index).isEmpty) }
    }

    /// Bytes that memory has beyond the file are cut off there.
    @Test func mappedBytes() throws {
        let file = try ELFFile(MadeELF.whole.bytes)
        #expect(file.mapped(at: 0x1008, count: 3) == [9, 10, 11])
        #expect(file.mapped(at: 0x101E, count: 9) == [31, 32])
        #expect(file.bytes(at: 0x101E, count: 9) == nil)
        #expect(file.mapped(at: 0x1020, count: 1).isEmpty)
        for count in [0, -1, .min] { #expect(file.mapped(at: 0x1000, count: count).isEmpty) }
    }

    @Test func symbols() throws {
        let file = try ELFFile(MadeELF.whole.bytes)
        #expect(file.symbolTables.count == 1)
        #expect(file.symbolTables(isDynamic: false).isEmpty)
        let table = try #require(file.symbolTables(isDynamic: true).first)
        #expect(table.count == 4 && table.isDynamic)
        #expect(table.address(of: "second") == 0x1010)
        for name in ["wanted", "secon", "seconds", ""] as [StaticString] {
            #expect(table.address(of: name) == nil)
        }
        let names = (0..<5).map { table.entry($0).flatMap { table.name(at: $0.name) } }
        #expect(
            names.map { $0.map { String(decoding: $0, as: UTF8.self) } }
                == ["", "wanted", "first", "second", nil])
        #expect(table.entry(-1) == nil && table.name(at: .max) == nil)
    }
}
