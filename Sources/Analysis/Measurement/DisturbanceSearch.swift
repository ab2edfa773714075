import ProfileModel

/// Finds the causes that make an arm's figures less certain than their intervals: any cause large
/// enough to move a median by about as much as a regression that is not allowed (3 %).
struct DisturbanceSearch {
    /// CPU time of other programs, as a share of all cores' time. On two cores it is a tenth of one
    /// core, enough to take a core from a launch now and then. The kernel counts it in ticks of
    /// 10 ms, so it is summed over all launches: for a single short launch it says little.
    static let otherWork = 0.05
    /// A launch waits while the hypervisor has its core. A share of 1 % of all cores' time can be
    /// 2 % of a launch's time on two cores.
    static let stolen = 0.01
    /// The distance between the lowest and the highest frequency, as a share of the highest. Steps
    /// of turbo modes are about 3 % each, and a mean over cores varies by one or two.
    static let frequency = 0.1
    /// From the first launch to the last, as a share of the median: a smaller drift is no
    /// regression either.
    static let drift = 0.03
    /// The chance that launches in random order seem to drift.
    static let driftChance = 0.005

    /// The disturbances, gravest first: contradictions to the conditions, then reasons why a median
    /// means little, then possible causes.
    private(set) var found: [Disturbance] = []

    private let measurement: Measurement
    /// The positions of the launches that count.
    private let places: [Int]

    init(_ measurement: Measurement, arm: Int) {
        self.measurement = measurement
        places = measurement.launches.indices.filter {
            measurement.launches[$0].arm == arm && measurement.launches[$0].discarded == nil
        }
        let walls = launches.map(\.wall.value)
        let modes = SortedValues(walls).flatMap { TwoModes($0) }
        found = [
            readFromDisk,
            modes.map {
                .bimodal(
                    lower: $0.lower, lowerCount: $0.lowerCount, upper: $0.upper,
                    upperCount: $0.upperCount)
            },
            drift(walls),
            share(of: \.otherWork, atLeast: Self.otherWork).map {
                .otherWork(share: $0.share, launches: $0.launches)
            },
            share(of: \.stolen, atLeast: Self.stolen).map {
                .stolen(share: $0.share, launches: $0.launches)
            },
            frequencies,
            outliers(walls, modes),
        ].compactMap(\.self)
    }

    private var launches: [MeasuredLaunch] { places.map { measurement.launches[$0] } }

    private var readFromDisk: Disturbance? {
        guard measurement.conditions.cache == .warm else { return nil }
        let count = launches.count { $0.readBytes ?? 0 > 0 }
        return count > 0 ? .readFromDisk(launches: count) : nil
    }

    private func drift(_ walls: [Double]) -> Disturbance? {
        guard let trend = Trend(walls), trend.probability < Self.driftChance,
            let median = SortedValues(walls)?.median, median > 0
        else { return nil }
        let share = trend.slope * Double(walls.count - 1) / median
        return abs(share) >= Self.drift ? .drift(share: share) : nil
    }

    /// The share of all cores' time, over all launches for which it is known, and the number of
    /// launches that alone have at least `limit`.
    private func share(
        of figure: KeyPath<MeasuredLaunch, TimeSpan?>, atLeast limit: Double
    ) -> (share: Double, launches: Int)? {
        let cores = Double(measurement.machine.cores)
        guard cores > 0 else { return nil }
        var (part, whole, count) = (0.0, 0.0, 0)
        for launch in launches {
            guard let taken = launch[keyPath: figure]?.value, launch.wall > .zero else { continue }
            let time = (launch.wall + launch.held).value * cores
            part += max(0, taken)
            whole += time
            if taken / time >= limit { count += 1 }
        }
        guard whole > 0, part / whole >= limit else { return nil }
        return (min(1, part / whole), count)
    }

    private var frequencies: Disturbance? {
        let known = launches.compactMap(\.frequency).filter { $0 > 0 }
        guard let lowest = known.min(), let highest = known.max(),
            Double(highest - lowest) >= Self.frequency * Double(highest)
        else { return nil }
        return .frequency(lowest: lowest, highest: highest)
    }

    /// Launches far from the others; if there are two kinds of launches, far from their own kind.
    private func outliers(_ walls: [Double], _ modes: TwoModes?) -> Disturbance? {
        var kinds = [Array(walls.indices)]
        if let modes {
            let border = walls.sorted()[modes.lowerCount]
            kinds = [
                walls.indices.filter { walls[$0] < border },
                walls.indices.filter { walls[$0] >= border },
            ]
        }
        let far = kinds.flatMap { kind in
            Outliers.places(in: kind.map { walls[$0] }).map { places[kind[$0]] }
        }
        return far.isEmpty ? nil : .outliers(far.sorted())
    }
}
