/// The places of a unit's functions, their lines and the containers of their names in the debug
/// information. With them, an address is answered without a pass over the whole unit.
struct UnitPlaces: Sendable, Equatable {
    var functions: ContiguousArray<FunctionPlace> = []
    var sequences: ContiguousArray<SequencePlace> = []
    var containers = Containers()
}

/// The entry of a function that has code. A function with several ranges has one of these for each,
/// one after another.
struct FunctionPlace: Sendable, Equatable {
    var range: Range<UInt64>
    /// The offset of its entry in `.debug_info`.
    var offset: Int
    /// The number of entries around it.
    var depth: Int32
}

/// A sequence of a line number program.
struct SequencePlace: Sendable, Equatable {
    /// From its lowest to its highest address.
    var range: Range<UInt64>
    /// The offset of its first instruction in `.debug_line`.
    var offset: Int
}

/// The known places in a module's debug information: the units by their addresses, and the contents
/// of those units that were read.
struct DebugPlaces: Sendable {
    var map: IntervalMap
    var units: [Int: UnitPlaces] = [:]

    /// Reading a smaller unit takes less time than looking up its content.
    static let smallestUnit = 1 << 16
}
