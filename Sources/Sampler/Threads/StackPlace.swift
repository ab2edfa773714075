/// Where a thread's stack lies, as far as it is known.
struct StackPlace {
    /// Its mapping, which may hold other things above it.
    var range: Range<UInt64> = 0..<0
    /// Whether the program itself made it.
    var isForeign = false
    /// Whether a thread library or the kernel made the stack, and a signal's frame fits on it. A
    /// frame takes 3.6 KiB with AVX-512 state and 12 with AMX, and the last look is a while ago.
    var hasRoom = false

    /// Its lowest address, down to where it may grow.
    var end: UInt64 = 0

    static let roomForSignal: UInt64 = 24 << 10

    /// The part of the stack in which a thread has no room left for a signal. Between two looks the
    /// thread may go there and back, but the memory that it has used once can be recognised.
    var lastRoom: Range<UInt64> { end..<(end &+ Self.roomForSignal) }
}
