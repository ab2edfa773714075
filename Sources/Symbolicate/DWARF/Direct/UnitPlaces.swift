/// Where in a unit's debug information its functions, their lines and the containers of their names
/// are: with it, an address is answered without going through all of the unit.
struct UnitPlaces: Sendable, Equatable {
    var functions: ContiguousArray<FunctionPlace> = []
    var sequences: ContiguousArray<SequencePlace> = []
    var containers = Containers()
}

/// The entry of a function that has code. One with several ranges has as many of these, one behind
/// the other.
struct FunctionPlace: Sendable, Equatable {
    var range: Range<UInt64>
    /// Of its entry, in `.debug_info`.
    var offset: Int
    /// How many entries it lies in.
    var depth: Int32
}

/// A sequence of a line number program.
struct SequencePlace: Sendable, Equatable {
    /// From its lowest to its highest address.
    var range: Range<UInt64>
    /// Of its first instruction, in `.debug_line`.
    var offset: Int
}

/// Where in a module's debug information what is, as far as that was found out: the units by the
/// addresses in them, and what is in those units that were gone through.
struct DebugPlaces: Sendable {
    var map: IntervalMap
    var units: [Int: UnitPlaces] = [:]

    /// Smaller units are gone through sooner than it is looked up what is in them.
    static let smallestUnit = 1 << 16
}
