package import Analysis
import Exports
import ProfileModel

/// A profile as one page that needs no network and no other file.
///
/// Names from the recording are never in the markup. They are in the packed data, which scripts
/// turn into text, and, escaped, in the summary for readers without scripts.
package enum HTMLReport {
    /// - Parameters:
    ///   - sources: lines of source files, by path and number.
    ///   - compress: makes a gzip file of bytes.
    package static func render(
        _ profile: Profile, sources: SourceLines = SourceLines(),
        compress: ([UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let data = compress(PageData(profile, sources).render())
        return PageFrame.fill(
            PageBundle.launch,
            [
                "@TITLE@": "<title>\(XML.text(title(of: profile)))</title>",
                "@DATA@": String(decoding: Base64.encoded(data), as: UTF8.self),
                "@SUMMARY@": summary(of: profile),
            ])
    }

    private static func title(of profile: Profile) -> String {
        "\(profile.title.escapedForDisplay): \(Numbers.preciseTime(profile.launch.wall)) – Firstlight"
    }

    /// For readers without scripts.
    private static func summary(of profile: Profile) -> String {
        var options = TextOptions()
        options.width = 120
        let lines = TextReport.render(profile, view: .full, options: options)
            .split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { XML.text(String($0)) }.joined(separator: "\n")
    }
}

/// Lines of source files, for reports that show them.
package struct SourceLines: Sendable {
    /// By the file's path in the debug information, then by line, 1-based.
    package var files: [String: [Int32: String]] = [:]

    package init() {}
}
