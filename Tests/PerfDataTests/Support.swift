import Glibc
import Testing

/// The stored files.
enum Files {
    static func path(_ name: String, from file: String = #filePath) -> String {
        let folder = file.lastIndex(of: "/").map { file[..<$0] } ?? "."
        return "\(folder)/Files/\(name)"
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(pread(descriptor, buffer.baseAddress, size, 0), 0)
        }
    }

    static func lines(_ name: String) throws -> [String] {
        String(decoding: try bytes(path(name)), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }
}

extension String {
    /// Without Foundation.
    func range(of text: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
