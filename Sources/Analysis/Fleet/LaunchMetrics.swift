package import ProfileModel

/// The figures of launches for a monitoring system: histograms and counters, by program, version,
/// machine class and conditions. Those of several files add up.
package struct LaunchMetrics: Hashable, Sendable {
    /// The labels that distinguish one series from another; empty: not known, or as usual.
    package struct Labels: Hashable, Sendable, Comparable {
        package var program: String
        /// As the user named it.
        package var version = ""
        /// The class of machines whose launches may be added up: "x86_64, 8 cores".
        package var machine = ""
        /// Unusual conditions: "cold", "network 3G".
        package var conditions = ""

        package static func < (left: Labels, right: Labels) -> Bool {
            (left.program, left.version, left.machine, left.conditions)
                < (right.program, right.version, right.machine, right.conditions)
        }
    }

    package struct Series: Hashable, Sendable {
        /// Up to readiness, or to the end where there is no readiness.
        package var launch = LaunchHistogram()
        /// The same with the time after readiness, for launches that were measured beyond it.
        package var extended = LaunchHistogram()
        /// By the phase's name.
        package var phases: [String: LaunchHistogram] = [:]
        /// Launches that do not count as such, by the reason: ``MeasuredLaunch/Discard``.
        package var failures: [MeasuredLaunch.Discard: Int64] = [:]
    }

    package private(set) var series: [Labels: Series] = [:]
    /// The number of launches in the series ``other``, because there were too many series.
    package private(set) var merged: Int64 = 0
    /// The number of phases of launches in ``other``.
    package private(set) var mergedPhases: Int64 = 0
    /// When the earliest of them was made, in nanoseconds since 1970 UTC; nil: there are none.
    package private(set) var since: Int64?

    /// The name for launches or phases without a series of their own.
    package static let other = "(other)"
    /// Each series costs a monitoring system memory for as long as it is kept.
    package static let mostSeries = 200
    package static let mostPhases = 30
    /// Names in a file can have any length.
    fileprivate static let longestName = 200

    package init() {}

    package var isEmpty: Bool { series.isEmpty }

    package mutating func add(_ measurement: Measurement) {
        for launch in measurement.launches
        where measurement.arms.indices.contains(launch.arm) {
            let labels = Labels(
                program: measurement.label(ofArm: launch.arm),
                // The version name is the first program's.
                version: launch.arm == 0 ? measurement.header.versionName ?? "" : "",
                machine: measurement.machine.className,
                conditions: measurement.conditions.summary)
            let date = measurement.header.date.addingReportingOverflow(launch.start.nanoseconds)
            note(date.overflow ? measurement.header.date : date.partialValue)
            switch launch.discarded {
            // Their times are not typical of launches of this kind.
            case .first, .warm, .interrupted, .recorded: continue
            case .failed, .otherStatus, .hung, .notReady:
                guard let reason = launch.discarded else { continue }
                change(labels) { series, _ in series.failures[reason, default: 0] += 1 }
            case nil:
                let phases = launch.phases.map { (name: $0.name, wall: $0.wall) }
                change(labels) { $0.add(launch.wall, phases, &$1) }
            }
        }
    }

    /// Adds a recording. Neither its version nor its machine is known.
    ///
    /// - Parameter date: when it was written, in nanoseconds since 1970 UTC.
    package mutating func add(_ profile: Profile, date: Int64) {
        note(date)
        let labels = Labels(program: profile.program.name)
        if case .signalled = profile.header.outcome, profile.ready == nil {
            return change(labels) { series, _ in series.failures[.failed, default: 0] += 1 }
        }
        // The whole phases match those of launches measured without stacks.
        let phases = profile.wholePhases.map { (name: $0.name, wall: $0.wall) }
        change(labels) { $0.add(profile.launch.wall, phases, &$1) }
    }

    private mutating func note(_ date: Int64) { since = min(since ?? date, date) }

    private mutating func change(_ labels: Labels, _ body: (inout Series, inout Int64) -> Void) {
        var labels = labels.shortened(to: Self.longestName)
        if series[labels] == nil, series.count >= Self.mostSeries - 1 {
            labels = Labels(program: Self.other)
            merged += 1
        }
        body(&series[labels, default: Series()], &mergedPhases)
    }
}

extension LaunchMetrics.Labels {
    fileprivate func shortened(to length: Int) -> Self {
        Self(
            program: program.shortened(to: length), version: version.shortened(to: length),
            machine: machine.shortened(to: length), conditions: conditions.shortened(to: length))
    }
}

extension String {
    /// Counts scalars, because a character can have any length.
    fileprivate func shortened(to length: Int) -> String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(length)))
    }
}

extension Measurement {
    /// Two builds of one program are labelled by their paths.
    fileprivate func label(ofArm arm: Int) -> String {
        let areAlike = Set(arms.map(\.name)).count < arms.count
        return areAlike && arm > 0 ? arms[arm].path : String(arms[arm].name)
    }
}

extension LaunchMetrics.Series {
    fileprivate mutating func add(
        _ wall: TimeSpan, _ parts: [(name: String, wall: TimeSpan)], _ mergedPhases: inout Int64
    ) {
        // A program may have several phases of one name.
        var sums: [String: TimeSpan] = [:]
        for part in parts {
            sums[part.name, default: .zero] = sums[part.name, default: .zero] + part.wall
        }
        let extended = sums[Phase.Names.extended] ?? .zero
        launch.add(wall - extended)
        if extended > .zero { self.extended.add(wall) }
        for (name, wall) in sums.sorted(by: { $0.key < $1.key }) {
            var name = name.shortened(to: LaunchMetrics.longestName)
            if phases[name] == nil, phases.count >= LaunchMetrics.mostPhases - 1 {
                name = LaunchMetrics.other
                mergedPhases += 1
            }
            phases[name, default: LaunchHistogram()].add(wall)
        }
    }
}

extension MeasuredMachine {
    /// The properties that decide how long launches take, and that many machines share.
    fileprivate var className: String {
        "\(architecture), \(cores) \(cores == 1 ? "core" : "cores")"
    }
}

extension MeasuredConditions {
    /// "cold, network 3G, disk 1000000 B/s, until window"; empty: the machine's usual state, to the
    /// end.
    fileprivate var summary: String {
        var words: [String] = []
        switch cache {
        case .warm: break
        case .cold: words.append("cold")
        case .coldCopies: words.append("cold copies")
        case .coldAll: words.append("cold, all caches")
        }
        if let network { words.append("network \(network)") }
        if let diskRate { words.append("disk \(diskRate) B/s") }
        words += until.map { "until \($0)" }
        return words.joined(separator: ", ")
    }
}

/// Counts launch times in buckets. The buckets are the same on every machine and in every version,
/// so many histograms can be added up.
package struct LaunchHistogram: Hashable, Sendable {
    /// The upper bounds of all buckets except the last, which has none. Each bucket counts times
    /// longer than the previous bound and not longer than its own. Bounds are closest where
    /// launches are compared, between 1 ms and 10 s: none there is more than twice the one before.
    package static let bounds: [TimeSpan] = microseconds.map {
        TimeSpan(nanoseconds: $0 * 1_000)
    }

    private static let microseconds: [Int64] = [
        100, 200, 500, 1_000, 2_000, 3_000, 5_000, 7_000, 10_000, 15_000, 20_000, 30_000, 50_000,
        70_000, 100_000, 150_000, 200_000, 300_000, 500_000, 700_000, 1_000_000, 1_500_000,
        2_000_000, 3_000_000, 5_000_000, 7_000_000, 10_000_000, 20_000_000, 60_000_000,
    ]

    /// One more than there are bounds.
    package private(set) var counts = Array(repeating: Int64(0), count: bounds.count + 1)
    /// The exact sum of all times.
    package private(set) var sum = TimeSpan.zero

    package init() {}

    package var count: Int64 { counts.reduce(0, +) }

    package mutating func add(_ span: TimeSpan) {
        counts[Self.bounds.partitionIndex { $0 >= span }] += 1
        sum = sum + span
    }
}
