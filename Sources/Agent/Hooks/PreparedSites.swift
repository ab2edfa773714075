import ELF
package import Images
import ProcessIO
import ProfileModel

/// Where a static program makes the system calls that concern us, read from its file before it
/// starts. A search through megabytes of code in its memory would hold the program.
package struct PreparedSites: Hashable, Sendable {
    /// The file's segments, by which we recognise the image.
    private let segments: [ELFSegment]
    /// At the addresses of the file.
    private let sites: CallSites

    /// How many bytes of code are searched at most.
    private static let mostCode: UInt64 = 1 << 27

    /// nil: the program is not static, or has too much code.
    package init?(path: UnsafePointer<CChar>) {
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

    /// The places in a running image; nil: it is another file's image.
    package func moved(to image: LoadedImage, headers address: UInt64) -> CallSites? {
        let headers = image.memory.read(
            at: address, count: segments.count * ELFSegment.headerSize)
        guard ELFSegment.all(in: headers[...]) == segments else { return nil }
        return sites.moved(to: image.bias)
    }
}
