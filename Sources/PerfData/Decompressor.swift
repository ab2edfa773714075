import CZstd

/// Decompresses the records of `perf record -z`: one zstd stream over all compressed records. It
/// produces only as much at a time as the caller requests.
///
/// Unsafe code: the stream is owned here; zstd reads and writes within the given sizes.
final class Decompressor {
    enum Failure: Error {
        case damaged
        /// The output is larger than any real recording's.
        case tooLarge
    }

    private let stream: OpaquePointer
    private var input: [UInt8] = []
    private var position = 0
    private var mayHoldMore = false
    private var taken: UInt64 = 0
    private var given: UInt64 = 0

    /// For a recording, zstd makes at most some hundred bytes from one. A file that was made to
    /// fill the disk makes 30,000.
    private static let largestRatio: UInt64 = 4096
    private static let allowance: UInt64 = 64 << 20

    init?() {
        guard let stream = ZSTD_createDStream() else { return nil }
        self.stream = stream
        ZSTD_initDStream(stream)
    }

    deinit { ZSTD_freeDStream(stream) }

    /// True if ``decompress(into:limit:)`` may produce more without new input.
    var hasInput: Bool { position < input.count || mayHoldMore }

    func feed(_ bytes: [UInt8]) {
        input = bytes
        position = 0
        taken &+= UInt64(bytes.count)
    }

    /// Appends up to `limit` bytes.
    func decompress(into output: inout [UInt8], limit: Int) throws(Failure) {
        var used = 0
        var isDamaged = false
        let chunk = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            input.withUnsafeBytes { source in
                var from = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: position)
                var to = ZSTD_outBuffer(dst: buffer.baseAddress, size: limit, pos: 0)
                let status = ZSTD_decompressStream(stream, &to, &from)
                isDamaged = ZSTD_isError(status) != 0
                used = from.pos
                count = min(to.pos, limit)
            }
        }
        if isDamaged || (chunk.isEmpty && used == position && used < input.count) {
            position = input.count
            mayHoldMore = false
            throw .damaged
        }
        position = min(used, input.count)
        // If the buffer is full, zstd may have kept something back.
        mayHoldMore = chunk.count == limit
        given &+= UInt64(chunk.count)
        guard given <= Self.allowance &+ taken &* Self.largestRatio else { throw .tooLarge }
        output.append(contentsOf: chunk)
    }
}
