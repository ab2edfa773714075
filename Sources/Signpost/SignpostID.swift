import Synchronization

/// Distinguishes intervals with the same name where no ``SignpostIntervalState`` can be passed on.
public struct SignpostID: Hashable, Sendable {
    public var rawValue: UInt64

    @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The identifier for intervals that need none, because their state is enough.
    @inlinable public static var exclusive: SignpostID { SignpostID(0) }

    private static let last = Atomic<UInt64>(1 << 32)

    static func makeUnique() -> SignpostID {
        SignpostID(last.wrappingAdd(1, ordering: .relaxed).newValue)
    }
}

/// An interval that has begun.
public struct SignpostIntervalState: Hashable, Sendable {
    public let signpostID: SignpostID
    /// The identifier of the recorded beginning; 0: there is none, or the program chose its own.
    let recorded: UInt64

    init(id: SignpostID, recorded: UInt64) {
        signpostID = id
        self.recorded = recorded
    }

    /// The state of an interval that was begun elsewhere with this identifier.
    public static func beginState(id: SignpostID) -> SignpostIntervalState {
        SignpostIntervalState(id: id, recorded: 0)
    }
}
