extension Sequence<UInt8> {
    /// FNV-1a of 64 bits: to tell names and files apart, not against somebody who forges one.
    @inlinable
    package var fingerprint: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

extension [String] {
    /// Of all words in their order: lists that differ never read alike.
    package var fingerprint: UInt64 { map { "\($0.utf8.count):\($0)" }.joined().utf8.fingerprint }
}
