package import Analysis
import Exports
import ProfileModel

/// A comparison of two recordings as one page that needs no network and no other file.
///
/// Names from the recordings are never in the markup. They are in the packed data, which scripts
/// turn into text, and, escaped, in the title and in the text for readers without scripts.
package enum ComparisonPage {
    /// - Parameter compress: makes a gzip file of bytes.
    /// - Returns: HTML in UTF-8. The same comparison gives the same bytes.
    package static func html(
        of comparison: ProfileComparison, compress: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let data = compress(ComparisonPageData(comparison).render())
        let title = XML.text(title(of: comparison))
        return PageFrame.fill(
            PageBundle.comparison,
            [
                "@TITLE@": "<title>\(title) – Firstlight</title>",
                "@DATA@": String(decoding: Base64.encoded(data), as: UTF8.self),
                "@SUMMARY@": text(of: comparison),
            ])
    }

    /// "app → app-mended: 2.512 s before, 0.400 s after, 2.112 s faster (-84.1 %)". For several
    /// launches: the means, and how certain the difference is.
    static func title(of comparison: ProfileComparison) -> String {
        let names = comparison.profiles.map(name)
        let programs =
            names.before == names.after ? names.after : "\(names.before) → \(names.after)"
        let wall = comparison.wall.map { Numbers.preciseTime($0) }
        return "\(programs): \(wall.before) before, \(wall.after) after, "
            + ComparisonHeader(comparison: comparison, options: TextOptions()).verdict
    }

    static func name(of profile: Profile) -> String { profile.title }

    /// For readers without scripts.
    private static func text(of comparison: ProfileComparison) -> String {
        var options = TextOptions()
        options.width = 120
        let lines = ComparisonReport.text(comparison, options: options)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { XML.text(String($0)) }.joined(separator: "\n")
    }
}
