import Analysis
import Exports
import ProfileModel

/// What made the launch longer than necessary: numbered, most at stake first, each with its
/// evidence and advice; then notes on the measurement.
struct FindingsView {
    private let profile: Profile
    private let options: TextOptions
    private let found: [Finding]

    init(profile: Profile, options: TextOptions) {
        self.profile = profile
        self.options = options
        found = profile.findings().filter { finding in
            profile.includes(
                options.selection, from: finding.range.lowerBound, to: finding.range.upperBound,
                thread: finding.thread)
        }
    }

    func render() -> String {
        let blocks = self.blocks
        let none =
            found.isEmpty
            ? ["nothing stands out here".wrapped(to: options.columns)] : []
        return (none + blocks).joined(separator: "\n")
    }

    /// Findings and notes; empty when there are none.
    var blocks: [String] {
        let shown = found.prefix(options.depth ?? .max)
        let heading = Numbers.count(found.count, "finding") + ", most at stake first"
        let findings = shown.enumerated().map { text($0.element, number: $0.offset + 1) }
        return found.isEmpty ? [] : [title(heading) + "\n" + findings.joined(separator: "\n")]
    }

    private static let functionWidth = 48
    private static let indent = 5

    private func title(_ text: String) -> String {
        "  " + (options.usesColour ? Style.heading.applied(to: text) : text) + "\n"
    }

    private func text(_ finding: Finding, number: Int) -> String {
        let words = FindingWords(
            profile: profile, finding: finding, functionWidth: Self.functionWidth)
        let phase = profile.phase(of: finding).map { profile.phases[$0].name }
        let place = [phase, profile.label(ofThread: finding.thread), words.place].compactMap { $0 }
            .joined(separator: " · ")
        let label = "  \(number)" + (number < 10 ? " " : "")
        return block(Numbers.time(finding.saving) + ": " + words.title, after: label)
            + block(place) + words.details.map { block($0) }.joined()
            + (words.advice.map { block("→ " + $0) } ?? "")
    }

    private func block(_ text: String, after start: String = "    ") -> String {
        text.escapedForDisplay.wrapped(to: options.columns, after: start, indent: Self.indent)
    }
}
