/// How much slower one program launches than another, with bounds.
struct Difference: Hashable, Sendable {
    /// As a fraction: 0.05 is 5 % slower.
    var change: Double
    var low: Double
    var high: Double
    /// In nanoseconds.
    var time: Double
    var timeLow: Double
    var timeHigh: Double
    /// The confidence of each bound; nil: the difference does not come from pairs.
    var confidence: Double?
    /// The number of pairs of launches; nil: there are none.
    var pairs: Int?
    /// The smallest change that could have been detected; nil: unknown, or none.
    var detectable: Double?
}

extension Difference {
    init(_ comparison: MeasurementDocument.Comparison) {
        self.init(
            change: comparison.change, low: comparison.low, high: comparison.high,
            time: comparison.differenceNs, timeLow: comparison.differenceLowNs,
            timeHigh: comparison.differenceHighNs, confidence: comparison.confidence,
            pairs: comparison.pairs, detectable: comparison.detectable)
    }

    /// For launches that did not take turns: from the intervals of both medians, in the worst case.
    /// nil: one of them has too few launches for an interval.
    init?(_ new: MeasurementDocument.Times?, against old: MeasurementDocument.Times?) {
        guard let new, let old, let newLow = new.lowNs, let newHigh = new.highNs,
            let oldLow = old.lowNs, let oldHigh = old.highNs, oldLow > 0, old.medianNs > 0,
            newLow <= newHigh, oldLow <= oldHigh
        else { return nil }
        self.init(
            change: new.medianNs / old.medianNs - 1, low: newLow / oldHigh - 1,
            high: newHigh / oldLow - 1, time: new.medianNs - old.medianNs,
            timeLow: newLow - oldHigh, timeHigh: newHigh - oldLow, confidence: nil, pairs: nil,
            detectable: nil)
    }
}

/// Judges a difference.
struct Judgement: Hashable, Sendable {
    /// In nanoseconds; a smaller difference does not matter.
    static let allowedTime = 2_000_000.0
    /// The confidence of a bound that decides.
    static let confidence = 0.99

    /// The allowed slowdown, as a fraction.
    var maxRegression: Double

    func outcome(of found: Difference) -> LaunchVerdict.Outcome {
        guard found.confidence ?? 1 >= Self.confidence, isSound(found) else {
            return .inconclusive
        }
        if found.low > maxRegression, found.timeLow > Self.allowedTime { return .failed }
        if found.high <= maxRegression || found.timeHigh <= Self.allowedTime { return .passed }
        return .inconclusive
    }

    private func isSound(_ found: Difference) -> Bool {
        [found.low, found.high, found.timeLow, found.timeHigh].allSatisfy(\.isFinite)
    }

    /// - Parameter second: from a second block of launches; nil: none was made.
    func verdict(
        _ names: ComparedNames, _ first: Difference, second: Difference? = nil
    ) -> LaunchVerdict {
        var outcome = outcome(of: first)
        if outcome == .failed, let second, self.outcome(of: second) != .failed {
            outcome = .inconclusive
        }
        let isRefuted = second != nil && outcome == .inconclusive
        return LaunchVerdict(
            outcome: outcome,
            sentence: sentence(names, outcome, first, isRefuted ? second : nil),
            change: first.change, bounds: interval(first.low, first.high) { $0 },
            difference: .time(first.time))
    }

    /// For stored figures that cannot decide anything.
    static func undecided(_ names: ComparedNames, because reason: String) -> LaunchVerdict {
        LaunchVerdict(
            outcome: .inconclusive,
            sentence: "inconclusive: cannot tell whether \(names.program) launches slower than "
                + "\(names.baseline): \(reason)",
            change: nil, bounds: nil, difference: nil)
    }

    // MARK: - Words

    private func sentence(
        _ names: ComparedNames, _ outcome: LaunchVerdict.Outcome, _ found: Difference,
        _ refutation: Difference?
    ) -> String {
        let allowed = Figures.share(maxRegression)
        let figures = Figures.of(found)
        switch outcome {
        case .failed:
            return "\(names.program) launches slower than \(names.baseline), by more than the "
                + "\(allowed) that are allowed: \(figures)"
        case .passed:
            return "\(names.program) launches no slower than \(names.baseline), or by no more than "
                + "the \(allowed) that are allowed: \(figures)"
        case .inconclusive:
            return "inconclusive: cannot tell whether \(names.program) launches slower than "
                + "\(names.baseline) by more than \(allowed): \(figures)"
                + doubt(found, refutation)
        }
    }

    private func doubt(_ found: Difference, _ refutation: Difference?) -> String {
        if let refutation {
            return "; a second block of launches does not agree: \(Figures.of(refutation))"
        }
        if let confidence = found.confidence, confidence < Self.confidence {
            return "; at least 7 pairs are needed"
        }
        guard let detectable = found.detectable else { return "; more launches may tell" }
        return "; these launches can show a change of \(Figures.share(detectable)) or more"
    }
}

/// The names of the two compared programs.
struct ComparedNames: Hashable, Sendable {
    var program: String
    var baseline: String
}

extension ComparedNames {
    /// Names two commands, without their programs' folders if the names still differ.
    init(_ program: [String], against baseline: [String]) {
        let (new, old) = (Self.short(program), Self.short(baseline))
        self =
            new != old
            ? ComparedNames(program: new, baseline: old)
            : ComparedNames(
                program: program.joined(separator: " "), baseline: baseline.joined(separator: " "))
    }

    /// A command without its program's folder.
    static func short(_ command: [String]) -> String {
        let name = command.first.flatMap { $0.split(separator: "/").last } ?? ""
        return ([String(name)] + command.dropFirst()).joined(separator: " ")
    }
}

/// Numbers as people read them.
enum Figures {
    static func of(_ found: Difference) -> String {
        let pairs = found.pairs.map { " by \($0) pair\($0 == 1 ? "" : "s") of launches" } ?? ""
        return "\(signedShare(found.change)) (\(signedShare(found.low)) to "
            + "\(signedShare(found.high))), \(signedTime(found.time))\(pairs)"
    }

    /// "3 %", "2.5 %"
    static func share(_ share: Double) -> String {
        let text = decimal(share * 100, digits: 1)
        return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " %"
    }

    /// "+5.2 %"
    static func signedShare(_ share: Double) -> String {
        sign(share) + decimal(share.magnitude * 100, digits: 1) + " %"
    }

    /// "+18.30 ms"
    static func signedTime(_ nanoseconds: Double) -> String {
        sign(nanoseconds) + decimal(nanoseconds.magnitude / 1_000_000, digits: 2) + " ms"
    }

    private static func sign(_ value: Double) -> String { value < 0 ? "-" : "+" }

    /// Rounded; "?" if it is not a number.
    static func decimal(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (value * scale).rounded()
        guard scaled.isFinite, scaled.magnitude < 9e15 else { return "?" }
        let whole = Int64(scaled.magnitude)
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let text = String(whole)
        let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        return "\(sign)\(padded.dropLast(digits)).\(padded.suffix(digits))"
    }
}
