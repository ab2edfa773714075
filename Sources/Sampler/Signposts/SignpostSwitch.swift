import CSignpost

/// Bytes to write into the program's memory.
struct MemoryWrite: Hashable, Sendable {
    var address: UInt64
    var bytes: [UInt8]
}

/// What to write to let a module's signposts begin, and end. Each write may happen while the program
/// runs, in one step or byte by byte; what counts is that the next one follows it.
struct SignpostSwitch: Hashable, Sendable {
    /// The module's state, as ``SignpostLocator`` found it.
    var state: UInt64

    /// - Parameter ring: where the ring is mapped in the program. It must stay there as long as the
    ///   program lives: a thread may be in the midst of writing at any time.
    func on(ring: UInt64) -> [MemoryWrite] {
        [
            off,
            MemoryWrite(address: state &+ Self.ring, bytes: Self.bytes(ring)),
            MemoryWrite(address: state &+ Self.active, bytes: [1]),
        ]
    }

    var off: MemoryWrite { MemoryWrite(address: state &+ Self.active, bytes: [0]) }

    private static let active = offset(\.active)
    private static let ring = offset(\.ring)

    private static func offset<Value>(
        _ field: KeyPath<firstlight_signpost_state, Value>
    ) -> UInt64 {
        UInt64(MemoryLayout<firstlight_signpost_state>.offset(of: field) ?? 0)
    }

    private static func bytes(_ word: UInt64) -> [UInt8] {
        withUnsafeBytes(of: word.littleEndian) { Array($0) }
    }
}
