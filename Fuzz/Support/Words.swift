/// Reads numbers from an input, byte by byte; zeros once it is used up.
package struct Words {
    private var rest: Slice<UnsafeRawBufferPointer>

    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    package var isEmpty: Bool { rest.isEmpty }

    package mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    package mutating func word() -> UInt64 {
        (0..<8).reduce(0) { word, index in word | UInt64(byte()) << UInt64(8 * index) }
    }

    /// Below `bound`, which is above 0.
    package mutating func index(below bound: Int) -> Int {
        (Int(byte()) | Int(byte()) << 8) % bound
    }

    package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
}
