import Analysis
import ProfileModel

/// One arm: its figures, every launch of it, what disturbed, and what did not count.
struct ArmSection {
    let measurement: Measurement
    let arm: Int
    let summary: ArmSummary
    let name: String
    let scale: LaunchStrip.Scale
    let options: TextOptions

    /// Parts that have an empty line between them.
    var blocks: [String] {
        let launches = measurement.launches.filter { $0.arm == arm }
        var blocks = [heading + figures(launches)]
        let strip = LaunchStrip(launches: launches, scale: scale, options: options).render()
        if !strip.isEmpty { blocks.append(strip) }
        let remarks = remarks(launches)
        if !remarks.isEmpty {
            blocks.append(remarks.map { $0.wrapped(to: options.columns) }.joined())
        }
        return blocks + FailedLaunches(launches: launches, options: options).blocks
    }

    /// Only where there are two.
    private var heading: String {
        guard measurement.arms.count > 1 else { return "" }
        let text = (arm == 0 ? "" : "against ") + name
        let shown = text.shortened(to: options.columns - 2)
        return "  " + (options.usesColour ? Style.heading.applied(to: shown) : shown) + "\n"
    }

    private func figures(_ launches: [MeasuredLaunch]) -> String {
        guard summary.wall != nil else {
            return (launches.isEmpty ? "no launch was made" : "no launch counts")
                .wrapped(to: options.columns)
        }
        return MeasurementTable(summary: summary, options: options).render()
    }

    private func remarks(_ launches: [MeasuredLaunch]) -> [String] {
        let words = DisturbanceWords(measurement: measurement, arm: arm)
        return summary.disturbances.map(words.text)
            + [held(launches), unknown(launches)].compactMap { $0 }
    }

    private func held(_ launches: [MeasuredLaunch]) -> String? {
        guard let most = launches.map(\.held).max(), most > .zero else { return nil }
        let time = Numbers.measuredTime(Double(most.nanoseconds))
        return "measuring itself took up to \(time) of a launch, which is left out"
    }

    /// What could have disturbed, and nobody can tell.
    private func unknown(_ launches: [MeasuredLaunch]) -> String? {
        let counted = launches.filter { $0.discarded == nil }
        guard !counted.isEmpty else { return nil }
        let missing = [
            counted.allSatisfy { $0.otherWork == nil } ? "other work on the machine" : nil,
            counted.allSatisfy { $0.stolen == nil } ? "what the hypervisor took" : nil,
            counted.allSatisfy { $0.frequency == nil } ? "the cores' frequency" : nil,
        ].compactMap { $0 }
        return missing.isEmpty ? nil : "not known here: " + missing.joined(separator: ", ")
    }
}

/// What the launches that failed had printed.
struct FailedLaunches {
    let launches: [MeasuredLaunch]
    let options: TextOptions

    /// More are in JSON.
    private static let (mostLaunches, mostLines) = (3, 5)

    var blocks: [String] {
        let failed = launches.enumerated().filter { Self.failed.contains($0.element.discarded) }
        let shown = failed.prefix(Self.mostLaunches).map { text($0.element, number: $0.offset + 1) }
        let rest = failed.count - shown.count
        guard rest > 0 else { return shown }
        let words = "\(Numbers.launches(rest)) more failed: see --format json"
        return shown + [words.wrapped(to: options.columns)]
    }

    private static let failed: Set<MeasuredLaunch.Discard?> = [
        .failed, .otherStatus, .hung, .notReady,
    ]

    private func text(_ launch: MeasuredLaunch, number: Int) -> String {
        let reason = launch.discarded.map(DiscardWords.text) ?? ""
        let lines = launch.output.split(whereSeparator: \.isNewline).suffix(Self.mostLines)
        let title = "launch \(Numbers.grouped(number)), \(reason): " + launch.outcome.words
        guard !lines.isEmpty else {
            return (title + "; it printed nothing").wrapped(to: options.columns)
        }
        return (title + "; what it printed last:").wrapped(to: options.columns)
            + lines.map {
                "    " + String($0).escapedForDisplay.shortened(to: options.columns - 4) + "\n"
            }.joined()
    }
}

extension Recording.Outcome {
    fileprivate var words: String {
        switch self {
        case .exited(let status): "it exited with status \(status)"
        case .signalled(let signal): "it was killed by \(SignalNames.label(signal))"
        case .running: "it went on"
        case .unknown: "how it ended is not known"
        }
    }
}
