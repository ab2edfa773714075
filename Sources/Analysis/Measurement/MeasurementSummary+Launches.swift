package import ProfileModel

extension MeasurementSummary {
    /// - Parameter rule: the rule for the comparison of two arms.
    package init(of measurement: Measurement, rule: ComparisonRule = ComparisonRule()) {
        arms = measurement.arms.indices.map { ArmSummary(of: measurement, arm: $0) }
        comparison =
            measurement.arms.count == 2
            ? Comparison(LaunchPairs.walls(of: measurement.launches), rule: rule) : nil
    }
}

extension ArmSummary {
    init(of measurement: Measurement, arm: Int) {
        let all = measurement.launches.filter { $0.arm == arm }
        let launches = all.filter { $0.discarded == nil }
        self.launches = launches.count
        discarded = all.reduce(into: [:]) { counts, launch in
            if let reason = launch.discarded { counts[reason, default: 0] += 1 }
        }
        wall = Distribution(launches.map { $0.wall.value })
        phases = PhaseSummary.all(of: launches)
        processes = StartedProcesses.all(of: launches)
        cpu = Distribution(known: launches.map { $0.cpu?.value })
        mainBlocked = Distribution(known: launches.map { $0.mainBlocked?.value })
        minorFaults = Distribution(known: launches.map { $0.minorFaults.map(Double.init) })
        majorFaults = Distribution(known: launches.map { $0.majorFaults.map(Double.init) })
        readBytes = Distribution(known: launches.map { $0.readBytes.map(Double.init) })
        disturbances = DisturbanceSearch(measurement, arm: arm).found
    }
}

extension Distribution {
    /// nil: no values.
    init?(_ values: [Double]) {
        guard let sorted = SortedValues(values) else { return nil }
        count = sorted.count
        median = sorted.median
        interval = sorted.medianInterval(confidence: 0.95).map {
            Interval(low: $0.low, high: $0.high, confidence: $0.confidence)
        }
        percentile90 = sorted.count >= 20 ? sorted.percentile90 : nil
        minimum = sorted.minimum
        maximum = sorted.maximum
    }

    /// Of the launches whose figure is known; nil: there are none.
    init?(known values: [Double?]) { self.init(values.compactMap(\.self)) }
}

extension PhaseSummary {
    /// The phases, in the order in which they first appear. If a launch has several of one name,
    /// their sum counts.
    static func all(of launches: [MeasuredLaunch]) -> [PhaseSummary] {
        var names: [String] = []
        var figures: [String: (walls: [Double], cpus: [Double?])] = [:]
        for launch in launches {
            for (name, phase) in sums(of: launch.phases) {
                if figures[name] == nil { names.append(name) }
                figures[name, default: ([], [])].walls.append(phase.wall)
                figures[name, default: ([], [])].cpus.append(phase.cpu)
            }
        }
        return names.compactMap { name in
            guard let figures = figures[name], let wall = Distribution(figures.walls) else {
                return nil
            }
            return PhaseSummary(name: name, wall: wall, cpu: Distribution(known: figures.cpus))
        }
    }

    private typealias Sum = (wall: Double, cpu: Double?)

    /// By name, in the order of the phases. CPU time is known if it is known for all phases of the
    /// name.
    private static func sums(of phases: [MeasuredPhase]) -> [(String, Sum)] {
        var places: [String: Int] = [:]
        var sums: [(name: String, sum: Sum)] = []
        for phase in phases {
            let new: Sum = (phase.wall.value, phase.cpu?.value)
            guard let place = places[phase.name] else {
                places[phase.name] = sums.count
                sums.append((phase.name, new))
                continue
            }
            let known = sums[place].sum
            let cpu = known.cpu.flatMap { cpu in new.cpu.map { cpu + $0 } }
            sums[place].sum = (known.wall + new.wall, cpu)
        }
        return sums
    }
}

extension TimeSpan {
    /// In nanoseconds.
    var value: Double { Double(nanoseconds) }
}

/// Launches of two arms that took turns, in pairs.
enum LaunchPairs {
    /// The walls of both launches of each pair that counts, in nanoseconds: of arm 0 and of arm 1.
    static func walls(of launches: [MeasuredLaunch]) -> [(Double, Double)] {
        pairs(of: launches).map { ($0.0.wall.value, $0.1.wall.value) }
    }

    /// Both launches of each pair that counts: of arm 0 and of arm 1.
    ///
    /// A pair is a launch and the next one of the other arm. The first launches, which are
    /// discarded, take no part. If one launch of a pair does not count, neither does the other,
    /// because the replacement ran at another time. If two in a row are of the same arm (one was
    /// repeated), the later one is paired.
    static func pairs(of launches: [MeasuredLaunch]) -> [(MeasuredLaunch, MeasuredLaunch)] {
        var pairs: [(MeasuredLaunch, MeasuredLaunch)] = []
        var waiting: MeasuredLaunch?
        for launch in launches where launch.discarded != .first && (0...1).contains(launch.arm) {
            guard let partner = waiting, partner.arm != launch.arm else {
                waiting = launch
                continue
            }
            waiting = nil
            let pair = launch.arm == 0 ? (launch, partner) : (partner, launch)
            if pair.0.counts, pair.1.counts { pairs.append(pair) }
        }
        return pairs
    }
}

extension MeasuredLaunch {
    /// A wall time of 0 or less is not valid: it has no ratio.
    fileprivate var counts: Bool { discarded == nil && wall > .zero }
}
