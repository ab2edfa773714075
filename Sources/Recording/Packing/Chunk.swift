import CZlib

/// The bytes of some rows in the file: deflated if that makes them smaller.
enum Chunk {
    /// Bytes that deflate better than by this factor are stored plainly. So the memory for reading
    /// stays in proportion to a file's size, whatever the file's origin.
    static let mostRatio = 16
    /// The limit for the unpacked bytes. A single row can be longer than usual.
    static let largest = 2 * Int(Database.longestValue)
    /// The limit for ids.
    static let mostChunks = 1 << 40
    /// The fastest level, because the file is written while a program launches: it takes two thirds
    /// of the usual level's time, and its output is a twentieth larger.
    private static let level: Int32 = 1

    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        let deflated = deflated(bytes)
        let isOfUse =
            !deflated.isEmpty && deflated.count < bytes.count
            && bytes.count <= mostRatio * deflated.count
        return isOfUse ? deflated : bytes
    }

    /// In zlib's format; empty if there is no memory.
    static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(uLong(bytes.count))
        // Unsafe code: zlib fills an array of the size that it asked for.
        return [UInt8](unsafeUninitializedCapacity: Int(size)) { target, count in
            let code = bytes.withUnsafeBufferPointer { source in
                compress2(
                    target.baseAddress, &size, source.baseAddress, uLong(source.count), level)
            }
            count = code == Z_OK ? Int(size) : 0
        }
    }

    /// - Parameter size: the number of unpacked bytes; if it is the number of the given bytes,
    ///   these are not packed.
    /// - Returns: nil if the bytes are invalid.
    static func unpacked(_ bytes: UnsafeRawBufferPointer, size: Int) -> [UInt8]? {
        guard size != bytes.count else { return Array(bytes) }
        guard bytes.count..<min(largest, bytes.count * mostRatio) + 1 ~= size else { return nil }
        var found = uLong(size)
        // Unsafe code: zlib writes only within the array.
        let result = [UInt8](unsafeUninitializedCapacity: size) { target, count in
            let code = uncompress(
                target.baseAddress, &found,
                bytes.bindMemory(to: UInt8.self).baseAddress, uLong(bytes.count))
            count = code == Z_OK ? Int(found) : 0
        }
        return result.count == size ? result : nil
    }
}
