import ProfileModel

/// Which launch a profile is of, among many.
package struct TopLaunch: Hashable, Sendable {
    /// Of its recording.
    package var path: String
    /// When the recording was last written, in seconds since 1970: recordings have no date inside.
    package var date: Int64

    package init(path: String, date: Int64) {
        self.path = path
        self.date = date
    }
}

/// What kind of thing costs time.
package enum TopKind: String, CaseIterable, Hashable, Sendable {
    case function, wait, initializer, library, process

    /// Whether it has a name of its own, and not that of a function in a module.
    package var isNamedAlone: Bool { self == .library || self == .process }
}

/// By what things of several launches are the same.
struct TopKey: Hashable, Sendable {
    var kind: TopKind
    /// The place in ``TopNames`` of the function, of a wait's function to look at, of a library's
    /// file, or of a process's program.
    var name: Int32
    /// Of a wait.
    var reason: WaitReason.Kind?
    /// Of a wait: nil: the main thread.
    var thread: String?

    init(_ kind: TopKind, _ name: Int32, reason: WaitReason.Kind? = nil, thread: String? = nil) {
        self.kind = kind
        self.name = name
        self.reason = reason
        self.thread = thread
    }
}

/// What a thing cost in one launch, or in several.
package struct TopCost: AdditiveArithmetic, Hashable, Sendable {
    /// A function's own time; of everything else the only one.
    package var own = Cost.zero
    /// A function with what it called.
    package var total = Cost.zero
    /// Waits, or an initialiser's runs.
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
    /// Of what has no callees.
    init(_ cost: Cost, count: Int64 = 0) {
        self.init(own: cost, total: cost, count: count)
    }
}
