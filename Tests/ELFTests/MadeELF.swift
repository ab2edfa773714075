import CElfutils
import ELF

/// An ELF file made up of parts, as bytes.
struct MadeELF {
    struct Segment {
        var type = PT_LOAD
        var flags = PF_R
        var offset: UInt64 = 0
        var address: UInt64 = 0
        var fileSize: UInt64 = 0
        var memorySize: UInt64?
    }

    struct Section {
        var name: String
        var type = SHT_PROGBITS
        var flags: Int32 = 0
        var address: UInt64 = 0
        var content: [UInt8] = []
        var link: UInt32 = 0
        var entrySize: UInt64 = 0
        /// Another one than its content's.
        var size: UInt64?
    }

    var segments: [Segment] = []
    /// Behind an empty one, and before that of their names.
    var sections: [Section] = []

    var bytes: [UInt8] {
        let all =
            [Section(name: "", type: SHT_NULL)] + sections
            + [Section(name: ".shstrtab", type: SHT_STRTAB)]
        var names = Texts()
        let places = all.map { names.add($0.name) }
        var content: [UInt8] = []
        var headers: [UInt8] = []
        let start = 64 + 56 * segments.count
        for (section, name) in zip(all, places) {
            let bytes = name == places.last ? names.bytes : section.content
            headers += number(name) + number(UInt32(section.type))
            headers += number(UInt64(section.flags)) + number(section.address)
            headers += number(UInt64(start + content.count))
            headers += number(section.size ?? UInt64(bytes.count))
            headers +=
                number(section.link) + number(UInt32(0))
                + number(UInt64(section.type == SHT_NOTE ? 4 : 8))
            headers += number(section.entrySize)
            content += bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
        }
        var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
        file += number(UInt16(ET_DYN)) + number(UInt16(EM_X86_64)) + number(UInt32(1))
        file += number(UInt64(0)) + number(UInt64(64)) + number(UInt64(start + content.count))
        file += number(UInt32(0)) + number(UInt16(64)) + number(UInt16(56))
        file += number(UInt16(segments.count)) + number(UInt16(64)) + number(UInt16(all.count))
        file += number(UInt16(all.count - 1))
        return file + segments.flatMap(header) + content + headers
    }

    private func header(_ segment: Segment) -> [UInt8] {
        number(UInt32(segment.type)) + number(UInt32(segment.flags)) + number(segment.offset)
            + number(segment.address) + number(segment.address) + number(segment.fileSize)
            + number(segment.memorySize ?? segment.fileSize) + number(UInt64(4096))
    }
}

extension MadeELF {
    static func symbol(_ name: UInt32, section: UInt16 = 1, at address: UInt64) -> [UInt8] {
        number(name) + [UInt8(STT_FUNC), 0] + number(section) + number(address) + number(UInt64(16))
    }

    static func note(_ owner: String, type: UInt32 = 3, _ content: [UInt8]) -> [UInt8] {
        func padded(_ bytes: [UInt8]) -> [UInt8] {
            bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        return number(UInt32(owner.utf8.count)) + number(UInt32(content.count)) + number(type)
            + padded(Array(owner.utf8)) + padded(content)
    }

    /// With all that is asked of files.
    static var whole: MadeELF {
        var names = Texts()
        let symbols =
            [UInt8](repeating: 0, count: 24)
            + symbol(names.add("wanted"), section: 0, at: 0)
            + symbol(names.add("first"), at: 0x1000) + symbol(names.add("second"), at: 0x1010)
        let note = note("GNU\0", [7, 8, 9])
        let linker = Array("/lib/linker.so\0".utf8)
        var made = MadeELF()
        made.sections = [
            Section(
                name: ".text", flags: SHF_ALLOC | SHF_EXECINSTR, address: 0x1000,
                content: Array(1...32)),
            Section(name: ".dynsym", type: SHT_DYNSYM, content: symbols, link: 3, entrySize: 24),
            Section(name: ".dynstr", type: SHT_STRTAB, content: names.bytes),
            Section(name: ".note.gnu.build-id", type: SHT_NOTE, content: note),
            Section(name: ".interp", content: linker),
            Section(name: ".bss", type: SHT_NOBITS, size: 4096),
            Section(name: ".packed", flags: SHF_COMPRESSED, content: [1, 2, 3]),
        ]
        // As their contents lie in the file.
        let text: UInt64 = 64 + 56 * 4
        let notes = text + 32 + 96 + UInt64((names.bytes.count + 7) / 8 * 8)
        let interpreter = notes + UInt64((note.count + 7) / 8 * 8)
        made.segments = [
            Segment(flags: PF_R, offset: 0, address: 0, fileSize: text),
            Segment(
                flags: PF_R | PF_X, offset: text, address: 0x1000, fileSize: 32, memorySize: 64),
            Segment(type: PT_NOTE, offset: notes, address: notes, fileSize: UInt64(note.count)),
            Segment(type: PT_INTERP, offset: interpreter, fileSize: UInt64(linker.count)),
        ]
        return made
    }
}

/// A table of texts, each behind a zero byte.
struct Texts {
    private(set) var bytes: [UInt8] = [0]

    mutating func add(_ text: String) -> UInt32 {
        guard !text.isEmpty else { return 0 }
        defer { bytes += Array(text.utf8) + [0] }
        return UInt32(bytes.count)
    }
}

func number<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

/// Memory that an image lies in.
final class ImageMemory {
    let bytes: UnsafeMutableRawBufferPointer

    init(_ content: [UInt8]) {
        bytes = .allocate(byteCount: content.count, alignment: 16)
        bytes.copyBytes(from: content)
    }

    deinit { bytes.deallocate() }
}

extension ELFFile {
    convenience init(_ content: [UInt8]) throws(ELFFileError) {
        let memory = ImageMemory(content)
        try self.init(image: memory.bytes, owner: memory)
    }
}
