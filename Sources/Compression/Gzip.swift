internal import CZlib

/// The gzip format, by zlib.
package enum Gzip {
    /// Unsafe code: zlib gets pointers into arrays that outlive the calls.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        // 15 bits of window; plus 16 for gzip's header and checksum.
        let version = ZLIB_VERSION
        guard
            deflateInit2_(
                &stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, version,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return bytes }  // no memory for it: readers of pprof take it uncompressed, too
        defer { deflateEnd(&stream) }
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        var input = bytes
        return input.withUnsafeMutableBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: bound) { target, count in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(clamping: source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(clamping: bound)
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? Int(stream.total_out) : 0
            }
        }
    }
}
