/// A script's reference to its source map, in its last lines: `//# sourceMappingURL=app.js.map`.
package enum SourceMapLink: Hashable, Sendable {
    /// A path; a relative one starts at the script's folder.
    case file(String)
    /// The map itself.
    case inline([UInt8])

    /// nil: there is none, or it is on a server, which we do not ask.
    package init?(script: [UInt8]) {
        guard let url = Self.url(script), let link = Self(url) else { return nil }
        self = link
    }

    private init?(_ url: ArraySlice<UInt8>) {
        if url.starts(with: "data:".utf8) {
            guard let comma = url.firstIndex(of: UInt8(ascii: ",")),
                String(decoding: url[..<comma].suffix(7), as: UTF8.self) == ";base64",
                let map = Base64.decoded(url[(comma + 1)...])
            else { return nil }
            self = .inline(map)
            return
        }
        guard url.count <= Self.longestPath else { return nil }
        var text = PercentEncoding.decoded(String(decoding: url, as: UTF8.self))
        if text.hasPrefix("file:///") { text.removeFirst("file://".count) }
        guard !text.isEmpty, !text.contains("://"), !text.contains("\0") else { return nil }
        self = .file(text)
    }

    private static let longestPath = 4096

    /// If several lines name a map, the last one counts.
    private static func url(_ script: [UInt8]) -> ArraySlice<UInt8>? {
        var end = script.endIndex
        while end > 0 {
            let start = script[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let line = script[start..<end]
            if let url = url(inLine: line) { return url }
            end = start - 1
        }
        return nil
    }

    private static func url(inLine line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        for word in ["//# sourceMappingURL=", "//@ sourceMappingURL="] {
            guard line.starts(with: word.utf8) else { continue }
            let url = line.dropFirst(word.utf8.count).prefix { $0 > 0x20 }
            return url.isEmpty ? nil : url
        }
        return nil
    }
}
