import Glibc

// Unsafe code: calls get only the remaining part of a buffer.

extension Descriptor {
    /// read(2) and write(2), or the replacements that tests use.
    package typealias Reading = (Int32, UnsafeMutableRawPointer?, Int) -> Int
    package typealias Writing = (Int32, UnsafeRawPointer?, Int) -> Int

    /// Files that do not report their size are read in pieces of this many bytes.
    private static let piece = 64 << 10

    /// The rest of the file: at most `count` bytes.
    ///
    /// - Parameter expected: how many there are, if known.
    package func bytes(
        count: Int, expected: Int? = nil, _ read: Reading = { Glibc.read($0, $1, $2) }
    ) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let size = min(
                max(1, expected.map { $0 - bytes.count } ?? Self.piece), count - bytes.count)
            let piece = try filled(size) { number, start, room, _ in read(number, start, room) }
            if bytes.isEmpty { bytes = piece } else { bytes += piece }
            if piece.count < size { break }
        }
        return bytes
    }

    /// Bytes from a position on: at most `count`.
    package func bytes(at position: UInt64, count: Int) throws(Errno) -> [UInt8] {
        try filled(count) { number, start, room, done in
            guard let place = off_t(exactly: position &+ UInt64(done)) else { return 0 }
            return pread(number, start, room, place)
        }
    }

    /// As ``bytes(at:count:)``; empty if unreadable.
    package func known(at position: UInt64, count: Int) -> [UInt8] {
        (try? bytes(at: position, count: count)) ?? []
    }

    /// Fewer bytes if the file ends.
    private func filled(
        _ size: Int, _ read: (Int32, UnsafeMutableRawPointer?, Int, _ done: Int) -> Int
    ) throws(Errno) -> [UInt8] {
        var problem: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            do throws(Errno) {
                while filled < size {
                    let (start, done) = (buffer.baseAddress?.advanced(by: filled), filled)
                    let got = try retrying { read(number, start, size - done, done) }
                    guard got > 0 else { break }
                    filled += got
                }
            } catch {
                problem = error
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Writes all of the bytes.
    package func write(
        _ bytes: [UInt8], _ write: Writing = { Glibc.write($0, $1, $2) }
    ) throws(Errno) {
        var problem: Errno?
        bytes.withUnsafeBytes { bytes in
            var done = 0
            do throws(Errno) {
                while done < bytes.count {
                    let start = bytes.baseAddress?.advanced(by: done)
                    let count = try retrying { write(number, start, bytes.count - done) }
                    guard count > 0 else { throw Errno(EIO) }
                    done += count
                }
            } catch {
                problem = error
            }
        }
        if let problem { throw problem }
    }
}
