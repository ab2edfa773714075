import Analysis
import Exports

/// The first arm compared with the second: the verdict, and the size of the difference.
struct ComparisonSection {
    let comparison: Comparison?
    let names: ArmNames
    let options: TextOptions

    func render() -> String {
        guard let comparison else {
            return ComparisonWords.tooFew(names).wrapped(to: options.columns)
        }
        let words = ComparisonWords(comparison: comparison, names: names)
        let verdict = words.verdict.wrapped(to: options.columns)
        return (options.usesColour ? verdict.emphasised : verdict)
            + words.figures.wrapped(to: options.columns)
    }
}

extension String {
    /// Each line as a heading.
    var emphasised: String {
        split(separator: "\n").map { Style.heading.applied(to: String($0)) + "\n" }.joined()
    }
}
