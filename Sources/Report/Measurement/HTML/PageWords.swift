import Analysis
import ProfileModel

/// What the page says in words. All of it is text: whoever puts it into the page escapes it.
enum PageWords {
    // MARK: Launches

    static func reason(_ discard: MeasuredLaunch.Discard) -> String {
        switch discard {
        case .first: "the first of its program: it finds what no other does"
        case .warm: "it should have been cold, and was not as far as can be proven"
        case .failed: "it could not be started, or a signal ended it"
        case .otherStatus: "it ended with another status than most"
        case .hung: "it was not ready in the time allowed"
        case .notReady: "the program ended before it was ready"
        case .interrupted: "the measurement was ended in the middle of it"
        }
    }

    static func outcome(_ outcome: Recording.Outcome) -> String {
        switch outcome {
        case .exited(let status): "exited with status \(status)"
        case .signalled(let signal): "killed by \(SignalNames.label(signal))"
        case .running: "ready, and still running"
        case .unknown: "unknown"
        }
    }

    // MARK: The measurement

    static func ending(_ header: Measurement.Header) -> String? {
        switch header.ending {
        case .complete: nil
        case .interrupted: "interrupted before there were as many launches as asked for"
        case .gaveUp: "given up: too few launches could be made as they were asked for"
        case .unknown: "cut short: these are the launches until then"
        }
    }

    static func conditions(_ conditions: MeasuredConditions) -> [String] {
        let cache =
            switch conditions.cache {
            case .warm: "warm: the page cache holds what the launch before left there"
            case .cold: "cold: the page cache holds none of the files that a launch uses"
            case .coldAll: "cold: the page cache is empty"
            }
        return [
            cache,
            conditions.network.map { "network: \($0)" },
            conditions.diskRate.map { "disk: at most \(Numbers.bytes($0)) a second" },
            conditions.until.isEmpty
                ? "until the program's end"
                : "until \(conditions.until.joined(separator: ", "))",
        ].compactMap { $0 }
    }

    static func machine(_ machine: MeasuredMachine) -> [String] {
        [
            machine.host, machine.processor, Numbers.count(machine.cores, "core"),
            Numbers.bytes(machine.memory), "Linux \(machine.kernel) \(machine.architecture)",
            machine.governor.map { "governor \($0)" } ?? "governor unknown",
        ].filter { !$0.isEmpty }
    }

    // MARK: What disturbed

    static func disturbance(_ disturbance: Disturbance, _ model: PageModel) -> String {
        switch disturbance {
        case .otherWork(let share, let launches):
            "Other work on the machine had \(FigureNumbers.share(share)) of all cores' time; in "
                + "\(Numbers.count(launches, "launch", plural: "launches")) it was much."
        case .stolen(let share, let launches):
            "The hypervisor gave \(FigureNumbers.share(share)) of all cores' time to others; in "
                + "\(Numbers.count(launches, "launch", plural: "launches")) it was much."
        case .frequency(let lowest, let highest):
            "The cores' frequency changed between \(gigahertz(lowest)) and \(gigahertz(highest))."
        case .drift(let share):
            "Launches became \(share > 0 ? "slower" : "faster") from the first to the last, by "
                + "\(FigureNumbers.share(abs(share))) of the median."
        case .bimodal(let lower, let lowerCount, let upper, let upperCount):
            "There are two kinds of launches: \(Numbers.grouped(lowerCount)) near "
                + "\(Quantity.time.text(lower)), \(Numbers.grouped(upperCount)) near "
                + "\(Quantity.time.text(upper)). The median alone tells of neither."
        case .outliers(let launches):
            outliers(launches, model)
        case .readFromDisk(let launches):
            "\(Numbers.count(launches, "launch", plural: "launches")) read from a disk though all "
                + "should have been warm."
        }
    }

    /// What could have disturbed, and nobody can tell.
    static func unknown(_ launches: [MeasuredLaunch]) -> String? {
        let counted = launches.filter { $0.discarded == nil }
        guard !counted.isEmpty else { return nil }
        let missing = [
            counted.allSatisfy { $0.otherWork == nil } ? "other work on the machine" : nil,
            counted.allSatisfy { $0.stolen == nil } ? "what the hypervisor gave to others" : nil,
            counted.allSatisfy { $0.frequency == nil } ? "the cores' frequency" : nil,
        ].compactMap { $0 }
        return missing.isEmpty ? nil : "Not known here: \(missing.joined(separator: ", "))."
    }

    /// Which they are, as far as that can be read.
    private static func outliers(_ launches: [Int], _ model: PageModel) -> String {
        let shown = launches.prefix(8).map(model.number)
        let more = launches.count - shown.count
        let names = shown.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return launches.count == 1
            ? "Launch \(names) lies far from all others; it is counted."
            : "Launches \(names) lie far from all others; they are counted."
    }

    private static func gigahertz(_ kilohertz: Int64) -> String {
        FigureNumbers.decimal(Double(kilohertz) / 1e6, 2) + " GHz"
    }

    // MARK: Two programs

    /// The answer, and the figures that it rests on.
    static func verdict(_ comparison: Comparison, _ first: String, _ second: String) -> String {
        let pairs = Numbers.count(comparison.pairs, "pair")
        let change = FigureNumbers.change(comparison.change)
        let bounds = range(comparison)
        let figures = "\(change), between \(bounds), in \(pairs)"
        switch comparison.verdict {
        case .slower: return "\(first) is slower than \(second): \(figures)."
        case .faster: return "\(first) is faster than \(second): \(figures)."
        case .same:
            return "\(first) is not slower than \(second) by more than is allowed: \(figures)."
        case .inconclusive:
            return "Inconclusive: \(first) against \(second) is \(figures). "
                + detectable(comparison.detectable)
        }
    }

    private static func detectable(_ change: Double?) -> String {
        guard let change else { return "So few pairs can show no change." }
        return "So many pairs with such a spread show a change of "
            + "\(FigureNumbers.change(abs(change)).dropFirst()) in four of five trials."
    }

    /// "+1.2 % and +5.0 %"
    static func range(_ comparison: Comparison) -> String {
        "\(FigureNumbers.change(comparison.low)) and \(FigureNumbers.change(comparison.high))"
    }
}

extension Numbers {
    /// "1 launch", "2 launches"
    fileprivate static func count(
        _ value: some BinaryInteger, _ noun: String, plural: String
    ) -> String {
        "\(grouped(value)) \(value == 1 ? noun : plural)"
    }
}
