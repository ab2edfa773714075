import ELF
import ProfileModel

/// Where a static program makes the system calls that concern us, read from its file before it is
/// started: it would stand while megabytes of code are searched in its memory.
struct PreparedSites: Hashable, Sendable {
    /// The file's, by which the image is known.
    private let segments: [ELFSegment]
    /// At the file's own addresses.
    private let sites: CallSites

    /// No more code than that is searched, in bytes.
    private static let mostCode: UInt64 = 1 << 27

    /// nil: it is no static program, or has too much code.
    init?(path: UnsafePointer<CChar>) {
        guard let file = try? ELFFile(path: String(cString: path), access: .read),
            !file.segments.contains(where: \.isInterpreter)
        else { return nil }
        segments = file.segments
        var found: [CallSites.Call: [UInt64]] = [:]
        var code: UInt64 = 0
        for segment in segments where segment.isLoaded && segment.isExecutable {
            guard segment.fileSize <= Self.mostCode - code, segment.offset < 1 << 40 else {
                return nil
            }
            code += segment.fileSize
            let bytes = file.bytes(from: segment.offset, count: Int(segment.fileSize))
            for call in CallSites.Call.allCases {
                found[call, default: []] += call.offsets(in: bytes).map {
                    segment.address &+ UInt64($0)
                }
            }
        }
        sites = CallSites(unique: found)
    }

    /// In a running image; nil: it is not this file's.
    func moved(to image: LoadedImage, headers address: UInt64) -> CallSites? {
        let headers = image.memory.read(
            at: address, count: segments.count * ELFSegment.headerSize)
        guard ELFSegment.all(in: headers[...]) == segments else { return nil }
        return sites.moved(to: image.bias)
    }
}
