import Glibc
import Testing

@testable import Images
@testable import ProcessIO
@testable import Sampler

/// An image as the sampler reads it, made up: its headers lie in our own memory, its segments
/// wherever the test says.
final class MadeImage {
    struct Segment {
        var kind: UInt32 = 1
        var flags: UInt32 = 4
        var start: UInt64
        var size: UInt64
    }

    static let memory = TargetMemory(pid: getpid())
    private let headers: UnsafeMutableRawPointer
    private let count: Int
    private let ownAddress: UInt64

    /// - Parameter bias: what to add to its addresses; the segments' are without it.
    init(_ segments: [Segment], bias: UInt64 = 0) {
        count = segments.count + 1
        headers = UnsafeMutableRawPointer.allocate(byteCount: 56 * count, alignment: 8)
        ownAddress = UInt64(UInt(bitPattern: headers))
        let own = Segment(kind: 6, start: ownAddress &- bias, size: UInt64(56 * count))
        for (index, segment) in ([own] + segments).enumerated() {
            let place = headers + 56 * index
            place.initializeMemory(as: UInt8.self, repeating: 0, count: 56)
            place.storeBytes(of: segment.kind, as: UInt32.self)
            place.storeBytes(of: segment.flags, toByteOffset: 4, as: UInt32.self)
            place.storeBytes(of: segment.start, toByteOffset: 16, as: UInt64.self)
            place.storeBytes(of: segment.size, toByteOffset: 40, as: UInt64.self)
        }
    }

    deinit { headers.deallocate() }

    func image() throws -> LoadedImage {
        try #require(
            LoadedImage(
                programHeaders: ownAddress, count: UInt64(count), memory: Self.memory))
    }
}

/// Bytes at a place in our own memory.
final class MadeMemory {
    let start: UnsafeMutableRawPointer
    let count: Int

    init(_ bytes: [UInt8]) {
        count = bytes.count
        start = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        start.copyMemory(from: bytes, byteCount: count)
    }

    deinit { start.deallocate() }

    var address: UInt64 { UInt64(UInt(bitPattern: start)) }
}

/// A number's bytes in memory.
func bytes<Value: FixedWidthInteger>(of value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}
