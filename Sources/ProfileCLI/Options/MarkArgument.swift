package import ProfileModel

/// Marks in the form of `--mark`: `load=loadStars`, `parse=ns::Parser::run..`,
/// `gc=usdt:ruby:gc__begin`.
package enum MarkArgument {
    /// The limit of a signpost's name, in bytes.
    private static let longestName = 128
    private static let longestPlace = 4096

    /// The valid forms, for error messages.
    package static let expectation =
        "must be NAME=SYMBOL, NAME=SYMBOL.. or NAME=usdt:PROVIDER:PROBE, and NAME no longer than "
        + "128 bytes"

    /// nil if `text` is not a mark.
    package static func parse(_ text: String) -> MarkRequest? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, 1...longestName ~= parts[0].utf8.count,
            1...longestPlace ~= parts[1].utf8.count,
            let place = parts[1].hasPrefix("usdt:") ? probe(parts[1]) : function(parts[1])
        else { return nil }
        return MarkRequest(name: String(parts[0]), place: place)
    }

    private static func probe(_ text: Substring) -> MarkRequest.Place? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else { return nil }
        return .probe(provider: String(parts[1]), name: String(parts[2]))
    }

    private static func function(_ text: Substring) -> MarkRequest.Place? {
        let isSpan = text.hasSuffix("..")
        let whole = isSpan ? text.dropLast(2) : text
        let parts = whole.split(separator: "!", maxSplits: 1, omittingEmptySubsequences: false)
        // A library's name has a dot; in `operator!`, none comes before the `!`.
        let isOfLibrary = parts.count == 2 && !parts[0].contains("operator")
        let name = isOfLibrary ? parts[1] : whole
        guard !name.isEmpty, !name.hasSuffix("."), !isOfLibrary || !parts[0].isEmpty else {
            return nil
        }
        return .function(
            String(name), library: isOfLibrary ? String(parts[0]) : nil, isSpan: isSpan)
    }
}
