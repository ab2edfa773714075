internal import CLZMA
internal import ELF
internal import Glibc

// Raw memory: liblzma writes the unpacked file, and libelf reads it. Its owner, which the ELF file
// keeps, frees it.

/// The symbols that some distributions leave in a stripped module: `.gnu_debugdata`, an ELF file
/// with only a symbol table, packed with xz.
enum MiniDebugInfo {
    /// No module's symbols are larger when unpacked, in bytes: Chromium's 1 million symbols take 50
    /// MB.
    static let largest = 64 << 20
    /// Symbol tables shrink to a fifth or a tenth. Data that shrink to less than a hundredth were
    /// made to exhaust memory, unless they are small.
    static let greatestRatio = 100
    private static let alwaysAllowed = 1 << 20
    /// The memory for unpacking: `xz -9` needs 65 MiB, the default 9.
    private static let decoderMemory: UInt64 = 96 << 20

    enum Result {
        case absent
        /// It is not an xz stream, not an ELF file, or too large.
        case damaged
        case found(ELFFile)
    }

    static func read(from file: ELFFile) -> Result {
        guard let index = file.index(ofSection: ".gnu_debugdata") else { return .absent }
        let packed = file.bytes(ofSection: index)
        let limit = min(
            largest, max(alwaysAllowed, packed.count.multipliedClamping(by: greatestRatio)))
        guard let image = unpack(packed, limit: limit),
            let file = try? ELFFile(image: image.bytes, owner: image)
        else { return .damaged }
        return .found(file)
    }

    /// nil if the bytes are not one complete xz stream, or unpack to more than `limit` bytes.
    static func unpack(_ packed: UnsafeRawBufferPointer, limit: Int) -> UnpackedImage? {
        var stream = lzma_stream()
        guard lzma_stream_decoder(&stream, decoderMemory, 0) == LZMA_OK else { return nil }
        defer { lzma_end(&stream) }
        stream.next_in = packed.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_in = packed.count
        var image = UnpackedImage(capacity: min(limit, max(1 << 16, packed.count)), keeping: nil)
        while let current = image {
            let done = Int(clamping: stream.total_out)
            stream.next_out = current.start(at: done)
            stream.avail_out = current.bytes.count - done
            let state = lzma_code(&stream, LZMA_FINISH)
            if state == LZMA_STREAM_END {
                return UnpackedImage(capacity: Int(clamping: stream.total_out), keeping: current)
            }
            // The output is full and the stream has not ended: there is more.
            guard state == LZMA_OK, stream.avail_out == 0, current.bytes.count < limit else {
                return nil
            }
            let capacity = min(limit, current.bytes.count.multipliedClamping(by: 2))
            image = UnpackedImage(capacity: capacity, keeping: current)
        }
        return nil
    }
}

/// Memory for an unpacked file.
final class UnpackedImage {
    /// Valid while this object lives.
    private(set) var bytes: UnsafeMutableRawBufferPointer

    /// - Parameter other: its bytes are moved here, as many as fit; it is empty afterwards.
    /// - Returns: nil if there is no memory.
    init?(capacity: Int, keeping other: UnpackedImage?) {
        let old = other?.bytes.baseAddress
        guard capacity > 0, let start = realloc(old, capacity) else { return nil }
        other?.bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        bytes = UnsafeMutableRawBufferPointer(start: start, count: capacity)
    }

    deinit { free(bytes.baseAddress) }

    func start(at offset: Int) -> UnsafeMutablePointer<UInt8>? {
        guard offset >= 0, offset < bytes.count else { return nil }
        return bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    }
}

extension Int {
    fileprivate func multipliedClamping(by factor: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
