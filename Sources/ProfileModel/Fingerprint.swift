extension Sequence<UInt8> {
    /// FNV-1a of 64 bits: it tells names and files apart, but does not protect from forgery.
    @inlinable
    package var fingerprint: UInt64 {
        reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}

extension [String] {
    /// The fingerprint of all words in their order: different lists never give the same text.
    package var fingerprint: UInt64 { map { "\($0.utf8.count):\($0)" }.joined().utf8.fingerprint }
}
