import Analysis
import Exports
import ProfileModel

/// What makes figures less certain, in sentences.
struct DisturbanceWords {
    let measurement: Measurement
    let arm: Int

    /// The name in JSON.
    static func kind(_ disturbance: Disturbance) -> String {
        switch disturbance {
        case .otherWork: "other_work"
        case .stolen: "stolen"
        case .frequency: "frequency"
        case .drift: "drift"
        case .bimodal: "bimodal"
        case .outliers: "outliers"
        case .readFromDisk: "read_from_disk"
        }
    }

    func text(_ disturbance: Disturbance) -> String {
        switch disturbance {
        case .otherWork(let share, let launches):
            "the machine was busy with other work: it had \(Numbers.share(share)) of all cores' "
                + "time; \(affected(launches))"
        case .stolen(let share, let launches):
            "the hypervisor gave \(Numbers.share(share)) of all cores' time to others; "
                + affected(launches)
        case .frequency(let lowest, let highest):
            "the cores' frequency changed: from \(Numbers.clock(kilohertz: lowest)) to "
                + Numbers.clock(kilohertz: highest)
        case .drift(let share):
            "launches became \(share < 0 ? "faster" : "slower") while they were measured, by "
                + "\(Numbers.share(share)) of the median in all"
        case .bimodal(let lower, let lowerCount, let upper, let upperCount):
            "there are two kinds of launches: \(Numbers.grouped(lowerCount)) about "
                + "\(Quantity.time.text(lower)), \(Numbers.grouped(upperCount)) about "
                + "\(Quantity.time.text(upper)); one median cannot describe both"
        case .outliers(let places):
            outliers(places)
        case .readFromDisk(let launches):
            "\(Numbers.launches(launches)) read from disks, although they should have been warm"
        }
    }

    private func affected(_ launches: Int) -> String {
        Numbers.launches(launches) + (launches == 1 ? " is" : " are") + " affected"
    }

    /// By their numbers among the arm's launches, as in the strip.
    private func outliers(_ places: [Int]) -> String {
        let shown = places.prefix(10).compactMap(number).map { Numbers.grouped($0) }
        let more = places.count > 10 ? " …" : ""
        let one = places.count == 1
        return "\(Numbers.launches(places.count)) far from all others "
            + "(\(one ? "it still counts" : "they still count")): number "
            + shown.joined(separator: ", ") + more
    }

    private func number(_ place: Int) -> Int? {
        guard measurement.launches.indices ~= place else { return nil }
        return measurement.launches[...place].count { $0.arm == arm }
    }
}
