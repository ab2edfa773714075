package import ProfileModel

/// The parts of a thread's time that are compared. The rest of the wall time is time without a
/// core.
package struct Cost: AdditiveArithmetic, Hashable, Sendable {
    /// Elapsed time.
    package var wall: TimeSpan
    /// Time on a core.
    package var cpu: TimeSpan
    /// Time waiting for something other than a core.
    package var blocked: TimeSpan

    package init(wall: TimeSpan, cpu: TimeSpan = .zero, blocked: TimeSpan = .zero) {
        self.wall = wall
        self.cpu = cpu
        self.blocked = blocked
    }

    package init(_ times: StateTimes) {
        self.init(wall: times.wall, cpu: times.running, blocked: times.blocked)
    }

    package static let zero = Cost(wall: .zero)

    package static func + (left: Cost, right: Cost) -> Cost {
        Cost(
            wall: left.wall + right.wall, cpu: left.cpu + right.cpu,
            blocked: left.blocked + right.blocked)
    }

    package static func - (left: Cost, right: Cost) -> Cost {
        Cost(
            wall: left.wall - right.wall, cpu: left.cpu - right.cpu,
            blocked: left.blocked - right.blocked)
    }
}

extension TimeSpan {
    /// Without its sign, in nanoseconds.
    package var magnitude: UInt64 { nanoseconds.magnitude }
}

extension Compared<Cost> {
    /// The larger of both walls; never negative.
    var largest: TimeSpan { max(.zero, before.wall, after.wall) }
}
