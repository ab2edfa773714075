/// Source maps as compilers write them, by none of our own code.
public struct MadeSourceMap: Sendable {
    public struct Segment: Sendable {
        /// All 0-based.
        var line, column, source, originalLine, originalColumn: Int
        var name: Int?

        public init(
            _ line: Int, _ column: Int, from source: Int, _ originalLine: Int,
            _ originalColumn: Int, name: Int? = nil
        ) {
            (self.line, self.column, self.source) = (line, column, source)
            (self.originalLine, self.originalColumn) = (originalLine, originalColumn)
            self.name = name
        }
    }

    public var sources: [String]
    public var names: [String]
    /// In the order of the generated script.
    public var segments: [Segment]

    public init(sources: [String], names: [String] = [], _ segments: [Segment]) {
        (self.sources, self.names, self.segments) = (sources, names, segments)
    }

    public var json: String {
        func list(_ texts: [String]) -> String {
            "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        }
        return """
            {"version":3,"file":"x.js","sources":\(list(sources)),"sourcesContent":[null,"a{\\"[b"],\
            "names":\(list(names)),"mappings":"\(mappings)"}
            """
    }

    public var mappings: String {
        var text = ""
        var last = Segment(0, 0, from: 0, 0, 0, name: 0)
        var isFirst = true
        for segment in segments {
            if segment.line > last.line {
                text += String(repeating: ";", count: segment.line - last.line)
                last.column = 0
                isFirst = true
            }
            if !isFirst { text += "," }
            isFirst = false
            text += Self.number(segment.column - last.column)
            text += Self.number(segment.source - last.source)
            text += Self.number(segment.originalLine - last.originalLine)
            text += Self.number(segment.originalColumn - last.originalColumn)
            if let name = segment.name { text += Self.number(name - (last.name ?? 0)) }
            let name = segment.name ?? last.name
            last = segment
            last.name = name
        }
        return text
    }

    private static func number(_ value: Int) -> String {
        var rest = value < 0 ? -value << 1 | 1 : value << 1
        var text = ""
        repeat {
            let digit = rest & 31 | (rest > 31 ? 32 : 0)
            rest >>= 5
            text += String(digits[digit])
        } while rest > 0
        return text
    }

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

    /// RFC 4648.
    public static func base64(_ text: String) -> String {
        var result = ""
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let three = rest.prefix(3)
            rest = rest.dropFirst(3)
            let bits = three.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - three.count))
            for place in 0...3 {
                result += place <= three.count ? String(digits[bits >> (18 - 6 * place) & 63]) : "="
            }
        }
        return result
    }
}
