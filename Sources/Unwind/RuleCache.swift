import ProfileModel

/// The facts cached for one program counter: its module, and how to leave its frame.
struct CachedRule {
    /// The address that was looked up.
    var address: UInt64
    /// Subtract this to get the module's own address.
    var bias: UInt64
    var rule: UnwindRule
    /// The module's index, or -1.
    var module: Int32
}

/// A direct-mapped cache of rules by program counter. Emptied when mappings go away or change.
///
/// Unsafe code: `entries` are `size` initialised ones, allocated and freed here. A slot's number
/// never has more bits than the size allows. So the walk's inner loop needs no checks of bounds or
/// exclusivity.
final class RuleCache {
    private let size: Int
    /// Shifting a hash by this leaves the number of a slot.
    private let shift: UInt64
    private let entries: UnsafeMutablePointer<CachedRule>
    private(set) var hits = 0
    private(set) var misses = 0

    /// For a process that is observed for a long time: 1 MiB.
    static let largeBits: UInt64 = 15
    /// For one of many processes, most of which live for a few milliseconds: filling a larger cache
    /// would take longer than it saves.
    static let smallBits: UInt64 = 10

    /// - Parameter bits: of a slot's number, from 1 to 32.
    init(bits: UInt64) {
        size = 1 << Int(bits)
        shift = 64 - bits
        entries = .allocate(capacity: size)
        entries.initialize(repeating: Self.nothing, count: size)
    }

    deinit { entries.deallocate() }

    /// There is no code at address 0.
    static let nothing = CachedRule(
        address: 0, bias: 0, rule: UnwindRule(.unmapped), module: -1)

    func removeAll() { entries.update(repeating: Self.nothing, count: size) }

    /// Adds the counts of one walk.
    func count(lookups: Int, misses: Int) {
        hits &+= lookups &- misses
        self.misses &+= misses
    }

    /// The slot of an address's entry. It may hold another address's entry.
    @inline(__always)
    func slot(of address: UInt64) -> UnsafeMutablePointer<CachedRule> {
        // Fibonacci hashing: code addresses differ in their middle bits.
        let hash = (address &* 0x9E37_79B9_7F4A_7C15) &>> shift
        return entries + Int(truncatingIfNeeded: hash)
    }
}
