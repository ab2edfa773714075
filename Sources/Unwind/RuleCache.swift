import ProfileModel

/// What is known of one program counter: where it is, and how to leave it.
struct CachedRule {
    /// The address that was looked up.
    var address: UInt64
    /// What to subtract for the module's own addresses.
    var bias: UInt64
    /// The module's index, or -1.
    var module: Int32
    var rule: UnwindRule
}

/// A direct-mapped cache of rules by program counter. Emptied when the mappings change.
struct RuleCache {
    private static let size = 1 << 14
    private var entries: [CachedRule]
    private(set) var hits = 0
    private(set) var misses = 0

    init() {
        entries = Self.empty
    }

    /// No code lies at address 0.
    private static var empty: [CachedRule] {
        [CachedRule](
            repeating: CachedRule(address: 0, bias: 0, module: -1, rule: UnwindRule(.unmapped)),
            count: size)
    }

    mutating func removeAll() { entries = Self.empty }

    /// The entry for an address, made by `make` when it is not there.
    @inline(__always)
    mutating func entry(for address: UInt64, make: (UInt64) -> CachedRule) -> CachedRule {
        // Fibonacci hashing: code addresses differ in their middle bits.
        let slot = Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 50)
        if entries[slot].address == address {
            hits += 1
            return entries[slot]
        }
        misses += 1
        let made = make(address)
        entries[slot] = made
        return made
    }
}
