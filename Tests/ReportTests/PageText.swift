/// Just enough of HTML to look at pages of our own.
enum PageText {
    struct Tag {
        var name: String
        var attributes: [String]
        var isEnd: Bool
    }

    /// All tags outside of scripts and style sheets, in their order.
    static func tags(of page: String) -> [Tag] {
        let bytes = Array(page.utf8)
        var tags: [Tag] = []
        var index = 0
        while let open = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            guard let (tag, end) = tag(bytes, from: open) else { break }
            index = end
            if !tag.name.hasPrefix("!") { tags.append(tag) }
            guard !tag.isEnd, ["script", "style"].contains(tag.name) else { continue }
            let close = Array("</\(tag.name)>".utf8)
            while index < bytes.count, !bytes[index...].starts(with: close) { index += 1 }
        }
        return tags
    }

    /// The tag that begins there, and where it ends. Attributes have double quotes, or no value.
    private static func tag(_ bytes: [UInt8], from open: Int) -> (Tag, Int)? {
        var index = open + 1
        var isQuoted = false
        var words = [""]
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                continue
            } else if byte == UInt8(ascii: ">") {
                let isEnd = words[0].hasPrefix("/")
                let attributes = words.dropFirst().filter { !$0.isEmpty }.map {
                    $0.hasSuffix("=") ? String($0.dropLast()) : $0
                }
                let name = isEnd ? String(words[0].dropFirst()) : words[0]
                return (Tag(name: name, attributes: attributes, isEnd: isEnd), index)
            } else if byte == UInt8(ascii: " ") {
                words.append("")
            } else {
                words[words.count - 1].unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return nil
    }

    /// The first tag that is opened and not closed, or the other way round; nil: all tags match.
    static func imbalance(of page: String) -> String? {
        var open: [String] = []
        for tag in tags(of: page) where tag.name != "meta" {
            if !tag.isEnd {
                open.append(tag.name)
            } else if open.popLast() != tag.name {
                return "</\(tag.name)> after \(open)"
            }
        }
        return open.isEmpty ? nil : "\(open)"
    }

    static func between(_ start: String, _ end: String, in page: String) -> String? {
        guard let from = page.firstRange(of: start)?.upperBound,
            let to = page[from...].firstRange(of: end)?.lowerBound
        else { return nil }
        return String(page[from..<to])
    }

    static func all(between start: String, and end: String, in page: String) -> [String] {
        page.split(separator: start).dropFirst().compactMap { part in
            part.firstRange(of: end).map { String(part[..<$0.lowerBound]) }
        }
    }
}
