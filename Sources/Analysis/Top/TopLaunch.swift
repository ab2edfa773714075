import ProfileModel

/// Identifies a profile's launch among many.
package struct TopLaunch: Hashable, Sendable {
    /// The path of its recording.
    package var path: String
    /// When the recording was last written, in seconds since 1970: recordings have no date inside.
    package var date: Int64

    package init(path: String, date: Int64) {
        self.path = path
        self.date = date
    }
}

/// The kind of a thing that costs time.
package enum TopKind: String, CaseIterable, Hashable, Sendable {
    case function, wait, initializer, library, process

    /// Whether it has its own name, not that of a function in a module.
    package var isNamedAlone: Bool { self == .library || self == .process }
}

/// Things of several launches are the same if these properties are equal.
struct TopKey: Hashable, Sendable {
    var kind: TopKind
    /// The position in ``TopNames`` of the function, of a wait's function to show, of a library's
    /// file, or of a process's program.
    var name: Int32
    /// Only for a wait.
    var reason: WaitReason.Kind?
    /// Only for a wait; nil: the main thread.
    var thread: String?

    init(_ kind: TopKind, _ name: Int32, reason: WaitReason.Kind? = nil, thread: String? = nil) {
        self.kind = kind
        self.name = name
        self.reason = reason
        self.thread = thread
    }
}

/// The cost of a thing in one launch, or in several.
package struct TopCost: AdditiveArithmetic, Hashable, Sendable {
    /// A function's own time; for all other things the only one.
    package var own = Cost.zero
    /// A function's time including its callees.
    package var total = Cost.zero
    /// The number of waits, or of an initialiser's runs.
    package var count: Int64 = 0

    package init(own: Cost = .zero, total: Cost = .zero, count: Int64 = 0) {
        (self.own, self.total, self.count) = (own, total, count)
    }

    package static let zero = TopCost()

    package static func + (left: TopCost, right: TopCost) -> TopCost {
        TopCost(
            own: left.own + right.own, total: left.total + right.total,
            count: left.count &+ right.count)
    }

    package static func - (left: TopCost, right: TopCost) -> TopCost {
        TopCost(
            own: left.own - right.own, total: left.total - right.total,
            count: left.count &- right.count)
    }
}

extension TopCost {
    /// For a thing without callees.
    init(_ cost: Cost, count: Int64 = 0) {
        self.init(own: cost, total: cost, count: count)
    }
}
