import ProfileModel

/// What is known of one program counter: where it is, and how to leave it.
struct CachedRule {
    /// The address that was looked up.
    var address: UInt64
    /// What to subtract for the module's own addresses.
    var bias: UInt64
    var rule: UnwindRule
    /// The module's index, or -1.
    var module: Int32
}

/// A direct-mapped cache of rules by program counter. Emptied when mappings go away or change.
///
/// Unsafe code: `entries` are `size` initialised ones, allocated and freed here, and a slot is always
/// a number of as many bits: the walk's inner loop pays neither for bounds nor for exclusivity.
final class RuleCache {
    private let size: Int
    /// What is left of a hash is a slot's number.
    private let shift: UInt64
    private let entries: UnsafeMutablePointer<CachedRule>
    private(set) var hits = 0
    private(set) var misses = 0

    /// For a process that is to be watched for long: a MiB.
    static let largeBits: UInt64 = 15
    /// For one of many, most of which live for a few milliseconds: to fill in more takes longer than
    /// it saves.
    static let smallBits: UInt64 = 10

    /// - Parameter bits: of a slot's number: from 1 to 32.
    init(bits: UInt64) {
        size = 1 << Int(bits)
        shift = 64 - bits
        entries = .allocate(capacity: size)
        entries.initialize(repeating: Self.nothing, count: size)
    }

    deinit { entries.deallocate() }

    /// No code lies at address 0.
    static let nothing = CachedRule(
        address: 0, bias: 0, rule: UnwindRule(.unmapped), module: -1)

    func removeAll() { entries.update(repeating: Self.nothing, count: size) }

    /// What the walks themselves count, one at a time.
    func count(lookups: Int, misses: Int) {
        hits &+= lookups &- misses
        self.misses &+= misses
    }

    /// Where an address's entry is, or would be: it may be another address's.
    @inline(__always)
    func slot(of address: UInt64) -> UnsafeMutablePointer<CachedRule> {
        // Fibonacci hashing: code addresses differ in their middle bits.
        let hash = (address &* 0x9E37_79B9_7F4A_7C15) &>> shift
        return entries + Int(truncatingIfNeeded: hash)
    }
}
