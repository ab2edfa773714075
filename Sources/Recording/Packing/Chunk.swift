import CZlib

/// The bytes of some rows as the file has them: deflated where that makes them smaller.
enum Chunk {
    /// How often smaller deflated bytes may be than what they stand for. Better ones are not deflated:
    /// so memory stays in proportion to a file's size, wherever it comes from.
    static let mostRatio = 16
    /// In bytes, of what it stands for. One row alone can be longer than is usual.
    static let largest = 2 * Int(Database.longestValue)
    /// Ids go up to here.
    static let mostChunks = 1 << 40
    /// A file is written while a program is launched: the quickest takes two thirds of the usual one's
    /// time, and leaves a twentieth more.
    private static let level: Int32 = 1

    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        let deflated = deflated(bytes)
        let isOfUse =
            !deflated.isEmpty && deflated.count < bytes.count
            && bytes.count <= mostRatio * deflated.count
        return isOfUse ? deflated : bytes
    }

    /// In zlib's format; empty where there is no memory for it.
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

    /// - Parameter size: what the bytes stand for, in bytes; as many as there are: themselves.
    /// - Returns: nil where they are not what they should be.
    static func unpacked(_ bytes: UnsafeRawBufferPointer, size: Int) -> [UInt8]? {
        guard size != bytes.count else { return Array(bytes) }
        guard bytes.count..<min(largest, bytes.count * mostRatio) + 1 ~= size else { return nil }
        var found = uLong(size)
        // Unsafe code: zlib gets the room that the array has, and no more.
        let result = [UInt8](unsafeUninitializedCapacity: size) { target, count in
            let code = uncompress(
                target.baseAddress, &found,
                bytes.bindMemory(to: UInt8.self).baseAddress, uLong(bytes.count))
            count = code == Z_OK ? Int(found) : 0
        }
        return result.count == size ? result : nil
    }
}
