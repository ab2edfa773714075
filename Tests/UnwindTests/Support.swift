import Glibc
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

extension StackCopy {
    init(start: UInt64, words: [UInt64]) {
        let bytes = words.flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) }
        }
        self.init(start: start, bytes: bytes)
    }
}

extension StackMemory {
    /// For as long as the tests run: the bytes are copied and never freed.
    init(_ snapshot: Snapshot) {
        func part(_ copy: StackCopy) -> Part {
            let memory = UnsafeMutableRawBufferPointer.allocate(
                byteCount: copy.bytes.count, alignment: 8)
            memory.copyBytes(from: copy.bytes)
            return Part(copy.start, UnsafeRawBufferPointer(memory))
        }
        self.init(part(snapshot.stack), snapshot.interrupted.map(part))
    }
}

extension Scratch {
    /// Assembles a shared library from a source text.
    func assemble(_ source: String, as name: String, _ options: String...) throws -> String {
        let source = try write(source, to: name + ".S")
        try run(
            ["gcc", "-shared", "-nostdlib", "-Wl,--build-id", "-o", path(name), source] + options)
        return path(name)
    }

    /// The addresses of a library's symbols, as nm sees them.
    func symbols(of library: String) throws -> [String: UInt64] {
        var result: [String: UInt64] = [:]
        for line in try printed(by: ["nm", library]) {
            let words = line.split(separator: " ")
            guard words.count == 3, let value = UInt64(words[0], radix: 16) else { continue }
            result[String(words[2])] = value
        }
        return result
    }
}

func readBytes(_ path: String) -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    let size = max(Int(lseek(descriptor, 0, SEEK_END)), 0)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
    }
}

func inode(of path: String) -> UInt64 {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
}

/// The executable segment of an ELF file, read by hand (elf(5)).
struct CodeSegment {
    var offset: UInt64 = 0
    var address: UInt64 = 0
    var size: UInt64 = 0

    init(_ bytes: [UInt8]) throws {
        func number(_ at: Int, _ size: Int) -> UInt64 {
            (0..<size).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
        }
        let headers = Int(number(32, 8))
        for index in 0..<Int(number(56, 2)) {
            let header = headers + 56 * index
            guard number(header, 4) == 1, number(header + 4, 4) & 1 != 0 else { continue }
            offset = number(header + 8, 8)
            address = number(header + 16, 8)
            size = number(header + 32, 8)
        }
        try #require(size > 0)
    }

    /// The mapping that the kernel makes of it.
    func mapping(at start: UInt64, path: String, inode: UInt64) -> CodeMapping {
        CodeMapping(
            start: start, end: start + (size + 4095) / 4096 * 4096, fileOffset: offset & ~4095,
            path: path, inode: inode)
    }
}
