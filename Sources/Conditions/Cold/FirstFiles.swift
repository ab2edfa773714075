import System

/// What the kernel itself opens to execute a program, and no call tells of.
package enum FirstFiles {
    /// The program's file, what runs it if it is a script, and the dynamic linker of either. Each is
    /// looked for from the current directory on.
    package static func of(program path: String) -> [String] {
        var found: [String] = []
        var next: String? = path
        // Scripts may run scripts; the kernel follows four.
        while let path = next, found.count < 6, let real = FileText.real(path) {
            found.append(real)
            next = interpreter(of: (try? WholeFile.beginning(of: real, count: 1 << 14)) ?? [])
        }
        return found
    }

    /// The program that runs a file which begins with `bytes`; nil: it runs by itself.
    package static func interpreter(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: Array("#!".utf8)) {
            let line = bytes.dropFirst(2).prefix { $0 != 10 }
            let word = line.drop { $0 == 32 || $0 == 9 }.prefix { $0 != 32 && $0 != 9 }
            return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
        }
        return dynamicLinker(of: bytes)
    }

    /// PT_INTERP of a 64-bit ELF file in this machine's byte order (elf(5)).
    private static func dynamicLinker(of bytes: [UInt8]) -> String? {
        guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
        func number(_ offset: Int, _ size: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - size else { return nil }
            let value = bytes[offset..<offset + size].reversed().reduce(UInt64(0)) {
                $0 << 8 | UInt64($1)
            }
            return Int(exactly: value)
        }
        guard let table = number(32, 8), let size = number(54, 2), let count = number(56, 2),
            size >= 56, table < bytes.count
        else { return nil }
        for index in 0..<min(count, 256) {
            let header = table + index * size
            guard number(header, 4) == 3 else { continue }
            guard let start = number(header + 8, 8), let length = number(header + 32, 8),
                start < bytes.count, length > 1, length <= bytes.count - start
            else { return nil }
            let path = bytes[start..<start + length].prefix { $0 != 0 }
            return String(decoding: path, as: UTF8.self)
        }
        return nil
    }
}
