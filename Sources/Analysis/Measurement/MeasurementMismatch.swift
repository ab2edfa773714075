package import ProfileModel

/// The differences between the circumstances of two measurements, besides the program. Each may be
/// the reason why their figures differ.
package enum MeasurementMismatch: Hashable, Sendable {
    case machine(before: String, after: String)
    case processor(before: String, after: String)
    case cores(before: Int, after: Int)
    case kernel(before: String, after: String)
    /// The machine was restarted in between.
    case boot
    /// It is not known whether the machine was restarted.
    case unknownBoot
    /// Coldness, network, disk, or the event that ends a launch; nil: the usual.
    case condition(Condition, before: String?, after: String?)

    package enum Condition: String, Sendable, CaseIterable {
        case cache, network, disk, until
    }

    /// Whether figures under such circumstances are not comparable at all.
    package var isFatal: Bool { self != .boot && self != .unknownBoot }

    /// Whether only the machine's name differs; the machines may be alike.
    var isOfName: Bool {
        if case .machine = self { return true }
        return false
    }

    /// All differences, gravest first.
    package static func all(
        before: Measurement, after: Measurement
    ) -> [MeasurementMismatch] {
        conditions(before.conditions, after.conditions) + machines(before.machine, after.machine)
    }

    private static func machines(
        _ before: MeasuredMachine, _ after: MeasuredMachine
    ) -> [MeasurementMismatch] {
        var found: [MeasurementMismatch] = []
        if before.host != after.host {
            found.append(.machine(before: before.host, after: after.host))
        }
        if before.processor != after.processor {
            found.append(.processor(before: before.processor, after: after.processor))
        }
        if before.cores != after.cores {
            found.append(.cores(before: before.cores, after: after.cores))
        }
        if (before.kernel, before.architecture) != (after.kernel, after.architecture) {
            found.append(.kernel(before: before.kernel, after: after.kernel))
        }
        guard found.isEmpty, before.boot == nil || before.boot != after.boot else { return found }
        return [before.boot == nil || after.boot == nil ? .unknownBoot : .boot]
    }

    private static func conditions(
        _ before: MeasuredConditions, _ after: MeasuredConditions
    ) -> [MeasurementMismatch] {
        func named(_ until: [String]) -> String? {
            until.isEmpty ? nil : until.joined(separator: ", ")
        }
        func named(_ cache: MeasuredConditions.Cache) -> String? {
            cache == .warm ? nil : cache.rawValue
        }
        let pairs: [(Condition, String?, String?)] = [
            (.cache, named(before.cache), named(after.cache)),
            (.network, before.network, after.network),
            (.disk, before.diskRate.map { "\($0)" }, after.diskRate.map { "\($0)" }),
            (.until, named(before.usualUntil), named(after.usualUntil)),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { .condition($0.0, before: $0.1, after: $0.2) }
    }
}

extension MeasuredConditions {
    /// The events that end a launch besides the program's end, in a fixed order. Two measurements
    /// agree in this if these lists are equal.
    package var usualUntil: [String] { Set(until).subtracting(["exit"]).sorted() }
}
