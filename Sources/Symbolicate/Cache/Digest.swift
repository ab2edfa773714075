internal import ELF

// Raw memory: the bytes are read as a whole, from the first to the last.

/// XXH64 (xxHash's specification, version 0.1.1) with the seed 0. It detects damage, several times
/// faster than a CRC-32, but does not protect from intent.
package enum Digest {
    // Computed, so that they are constants where they are used.
    private static var prime1: UInt64 { 0x9E37_79B1_85EB_CA87 }
    private static var prime2: UInt64 { 0xC2B2_AE3D_27D4_EB4F }
    private static var prime3: UInt64 { 0x1656_67B1_9E37_79F9 }
    private static var prime4: UInt64 { 0x85EB_CA77_C2B2_AE63 }
    private static var prime5: UInt64 { 0x27D4_EB2F_1656_67C5 }

    package static func xxh64(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var offset = 0
        var hash = prime5
        if bytes.count >= 32, let start = bytes.baseAddress {
            offset = bytes.count / 32 * 32
            hash = stripes(start, end: offset)
        }
        hash &+= UInt64(bytes.count)
        while let lane = bytes.number(UInt64.self, at: offset) {
            hash = rotated(hash ^ round(0, lane), 27) &* prime1 &+ prime4
            offset += 8
        }
        if let half = bytes.number(UInt32.self, at: offset) {
            hash = rotated(hash ^ UInt64(half) &* prime1, 23) &* prime2 &+ prime3
            offset += 4
        }
        while let byte = bytes.number(UInt8.self, at: offset) {
            hash = rotated(hash ^ UInt64(byte) &* prime5, 11) &* prime1
            offset += 1
        }
        return avalanche(hash)
    }

    /// Four lanes side by side, which the processor computes at once.
    /// - Parameter end: a multiple of 32.
    private static func stripes(_ start: UnsafeRawPointer, end: Int) -> UInt64 {
        var first = prime1 &+ prime2
        var second = prime2
        var third: UInt64 = 0
        var fourth = 0 &- prime1
        var lane = start
        let end = start + end
        while lane < end {
            first = round(first, lane.loadUnaligned(as: UInt64.self))
            second = round(second, (lane + 8).loadUnaligned(as: UInt64.self))
            third = round(third, (lane + 16).loadUnaligned(as: UInt64.self))
            fourth = round(fourth, (lane + 24).loadUnaligned(as: UInt64.self))
            lane += 32
        }
        var hash =
            rotated(first, 1) &+ rotated(second, 7) &+ rotated(third, 12) &+ rotated(fourth, 18)
        for lane in [first, second, third, fourth] {
            hash = (hash ^ round(0, lane)) &* prime1 &+ prime4
        }
        return hash
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotated(lane &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func rotated(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value &<< count | value &>> (64 - count)
    }

    private static func avalanche(_ hash: UInt64) -> UInt64 {
        var hash = (hash ^ hash >> 33) &* prime2
        hash = (hash ^ hash >> 29) &* prime3
        return hash ^ hash >> 32
    }
}
