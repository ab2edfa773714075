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
