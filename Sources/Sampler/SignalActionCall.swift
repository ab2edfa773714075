import ProfileModel

/// Finds the C library's call of rt_sigaction(2): every version of glibc and musl has one place,
/// `mov $13, %eax; syscall`, through which sigaction(3) and signal(3) go.
enum SignalActionCall {
    private static let code: [UInt8] = [0xB8, 13, 0, 0, 0, 0x0F, 0x05]

    /// The address of the one occurrence in the C library's code, or in a static program's own.
    /// nil when there is none, or more than one (then it is not known which is which).
    static func find(in mappings: [CodeMapping], memory: TargetMemory) -> UInt64? {
        let library = mappings.filter { isLibrary($0.path) }
        let searched = library.isEmpty ? mappings.filter { $0.path.hasPrefix("/") } : library
        var found: UInt64?
        for mapping in searched {
            let size = Int(clamping: min(mapping.end - mapping.start, 1 << 24))
            for offset in occurrences(in: memory.read(at: mapping.start, count: size)) {
                if found != nil { return nil }
                found = mapping.start + UInt64(offset)
            }
        }
        return found
    }

    private static func isLibrary(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.hasPrefix("libc.so") || name.hasPrefix("libc-") || name.hasPrefix("ld-musl")
    }

    private static func occurrences(in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBufferPointer { bytes in
            var offsets: [Int] = []
            var index = 0
            while index + code.count <= bytes.count {
                if bytes[index] == 0xB8, bytes[index + 1] == 13, bytes[index + 5] == 0x0F,
                    bytes[index + 2] == 0, bytes[index + 3] == 0, bytes[index + 4] == 0,
                    bytes[index + 6] == 0x05
                {
                    offsets.append(index)
                }
                index += 1
            }
            return offsets
        }
    }
}
