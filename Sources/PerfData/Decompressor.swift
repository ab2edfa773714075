import CZstd

/// What `perf record -z` compressed: one stream of zstd over all compressed records, from which
/// as much is taken at a time as is asked for.
///
/// Unsafe code: the stream is owned here; zstd reads and writes within the sizes that it is given.
final class Decompressor {
    enum Failure: Error {
        case damaged
        /// More came out than any real recording holds.
        case tooLarge
    }

    private let stream: OpaquePointer
    private var input: [UInt8] = []
    private var position = 0
    private var mayHoldMore = false
    private var taken: UInt64 = 0
    private var given: UInt64 = 0

    /// zstd makes at most some hundred bytes of one from what a recording holds; a file that is
    /// made to fill the disk makes 30,000.
    private static let largestRatio: UInt64 = 4096
    private static let allowance: UInt64 = 64 << 20

    init?() {
        guard let stream = ZSTD_createDStream() else { return nil }
        self.stream = stream
        ZSTD_initDStream(stream)
    }

    deinit { ZSTD_freeDStream(stream) }

    /// Whether ``decompress(into:limit:)`` may give more without being fed.
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
        // A full buffer may have kept something back.
        mayHoldMore = chunk.count == limit
        given &+= UInt64(chunk.count)
        guard given <= Self.allowance &+ taken &* Self.largestRatio else { throw .tooLarge }
        output.append(contentsOf: chunk)
    }
}
