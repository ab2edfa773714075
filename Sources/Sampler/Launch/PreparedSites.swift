import Glibc
import ProfileModel
import System

/// Where a static program makes the system calls that concern us, read from its file before it is
/// started: it would stand while megabytes of code are searched in its memory.
struct PreparedSites: Hashable, Sendable {
    /// The file's program headers, by which the image is known.
    private let headers: [UInt8]
    /// At the file's own addresses.
    private let sites: CallSites

    /// No more code than that is searched, in bytes.
    private static let mostCode: UInt64 = 1 << 27
    private static let headerSize = 56

    /// nil: it is no static program, or has too much code.
    init?(path: UnsafePointer<CChar>) {
        guard let file = try? Descriptor(regular: String(cString: path)) else { return nil }
        let start = file.known(at: 0, count: 64)
        guard start.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]),
            let offset = start.littleEndianWord(at: 32), offset < 1 << 32,
            let count = start.littleEndianUInt16(at: 56), count <= 512
        else { return nil }
        headers = file.known(at: offset, count: Int(count) * Self.headerSize)
        guard headers.count == Int(count) * Self.headerSize else { return nil }
        var found: [CallSites.Call: [UInt64]] = [:]
        var code: UInt64 = 0
        for index in 0..<Int(count) {
            let at = index * Self.headerSize
            guard let kind = headers.littleEndianUInt32(at: at),
                let flags = headers.littleEndianUInt32(at: at + 4),
                let place = headers.littleEndianWord(at: at + 8),
                let address = headers.littleEndianWord(at: at + 16),
                let size = headers.littleEndianWord(at: at + 32)
            else { return nil }
            // It names a dynamic linker.
            if kind == 3 { return nil }
            guard kind == 1, flags & 1 != 0 else { continue }
            guard size <= Self.mostCode, place < 1 << 40, code + size <= Self.mostCode else {
                return nil
            }
            code += size
            let bytes = file.known(at: place, count: Int(size))
            for call in CallSites.Call.allCases {
                found[call, default: []] += call.offsets(in: bytes).map { address &+ UInt64($0) }
            }
        }
        sites = CallSites(unique: found)
    }

    /// In a running image; nil: it is not this file's.
    func moved(to image: LoadedImage, headers address: UInt64) -> CallSites? {
        guard image.memory.read(at: address, count: headers.count) == headers else { return nil }
        return sites.moved(to: image.bias)
    }
}
