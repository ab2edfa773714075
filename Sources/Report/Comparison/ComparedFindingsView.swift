import Analysis
import Exports
import ProfileModel

/// Findings that are new, gone or changed; new ones with advice.
struct ComparedFindingsView {
    let comparison: ProfileComparison
    /// The names of the chosen phases; nil: all.
    let phases: Set<String>?
    let options: TextOptions

    private static let (functionWidth, indent) = (48, 5)

    /// Empty: neither launch has one.
    var blocks: [String] {
        let chosen = comparison.findings.filter(isWanted)
        guard !chosen.isEmpty else { return [] }
        let heading = "  " + summary(chosen)
        let title = options.usesColour ? Style.heading.applied(to: heading) : heading
        let shown = chosen.prefix(options.depth ?? .max)
        return [title + "\n\n" + shown.map(text).joined()]
    }

    private func isWanted(_ finding: ComparedFinding) -> Bool {
        guard let phases else { return true }
        return Side.allCases.contains { side in
            comparison.phase(of: finding, side).map(phases.contains) ?? false
        }
    }

    /// "Findings: 3 gone, 1 new"
    private func summary(_ findings: [ComparedFinding]) -> String {
        let order: [ComparedFinding.Status] = [.new, .gone, .changed, .same]
        let counts = order.compactMap { status -> String? in
            let count = findings.filter { $0.status == status }.count
            return count == 0 ? nil : "\(count) \(status == .same ? "as before" : status.rawValue)"
        }
        return "Findings: " + counts.joined(separator: ", ")
    }

    private func text(_ finding: ComparedFinding) -> String {
        let side: Side = finding.seen.after == nil ? .before : .after
        guard let seen = finding.seen[side] else { return "" }
        let words = FindingWords(
            profile: comparison.launches[side][seen.launch], finding: seen.finding,
            functionWidth: Self.functionWidth)
        let phase = comparison.phase(of: finding, side).map { "\($0) · " } ?? ""
        let first = block(
            "\(times(finding)): \(words.title)\(often(seen, side))",
            after: "  " + label(finding.status))
        guard finding.status != .gone else { return first }
        let place = block(phase + words.place)
        let advice = finding.status == .new ? words.advice : nil
        return first + place + (advice.map { block("→ " + $0) } ?? "")
    }

    private func label(_ status: ComparedFinding.Status) -> String {
        status == .same ? "as before" : status.rawValue
    }

    private func times(_ finding: ComparedFinding) -> String {
        let saving = finding.saving
        return switch finding.status {
        case .new, .same: Numbers.time(saving.after)
        case .gone: Numbers.time(saving.before)
        case .changed: "\(Numbers.time(saving.before)) → \(Numbers.time(saving.after))"
        }
    }

    /// " (in 3 of 5 launches)"; empty if it is in all.
    private func often(_ seen: ComparedFinding.Seen, _ side: Side) -> String {
        let count = comparison.launches[side].count
        return seen.launches < count ? " (in \(seen.launches) of \(count) launches)" : ""
    }

    private func block(_ text: String, after start: String = "    ") -> String {
        text.escapedForDisplay.wrapped(to: options.columns, after: start, indent: Self.indent)
    }
}

extension ProfileComparison {
    /// The phase in which a finding begins on one side; nil: none, or the side lacks the finding.
    func phase(of finding: ComparedFinding, _ side: Side) -> String? {
        guard let seen = finding.seen[side] else { return nil }
        let profile = launches[side][seen.launch]
        return profile.phase(of: seen.finding).map { profile.phases[$0].name }
    }
}
