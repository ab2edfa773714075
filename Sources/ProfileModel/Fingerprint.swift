extension Sequence<UInt8> {
    /// FNV-1a of 64 bits: to tell names and files apart, not against somebody who forges one.
    @inlinable
    package var fingerprint: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
