import CSignpost

/// Bytes to write into the program's memory.
package struct MemoryWrite: Hashable, Sendable {
    package var address: UInt64
    package var bytes: [UInt8]
}

/// The writes that switch a module's signposts on and off. Each write may happen while the program
/// runs, in one step or byte by byte; only their order matters.
package struct SignpostSwitch: Hashable, Sendable {
    /// The module's state, as ``SignpostLocator`` found it.
    package var state: UInt64

    /// - Parameter ring: the ring's address in the program. It must stay mapped as long as the
    ///   program lives: a thread may be writing at any time.
    package func on(ring: UInt64) -> [MemoryWrite] {
        [
            off,
            MemoryWrite(address: state &+ Self.ring, bytes: Self.bytes(ring)),
            MemoryWrite(address: state &+ Self.active, bytes: [1]),
        ]
    }

    package var off: MemoryWrite { MemoryWrite(address: state &+ Self.active, bytes: [0]) }

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
