/// A server's answer to a request that it accepted only in part (OTLP's `partialSuccess`).
///
/// We search the text for two values instead of parsing it: they are only shown to the user.
struct PartialSuccess: Hashable, Sendable {
    var points: Int
    var message: String

    /// nil: the server accepted everything.
    init?(_ text: String) {
        guard let points = Self.value(of: "rejectedDataPoints", in: text).flatMap({ Int($0) }),
            points > 0
        else { return nil }
        self.points = points
        message = Self.value(of: "errorMessage", in: text).map(String.init) ?? ""
    }

    /// A number, or the text between quotes, up to the first quote that is not escaped.
    private static func value(of name: String, in text: String) -> Substring? {
        guard let key = text.firstRange(of: "\"\(name)\"") else { return nil }
        let blank: (Character) -> Bool = { $0 == " " || $0 == ":" || $0.isNewline || $0 == "\t" }
        let rest = text[key.upperBound...].drop(while: blank)
        guard rest.first == "\"" else { return rest.prefix { $0.isNumber } }
        var isEscaped = false
        return rest.dropFirst().prefix { character in
            defer { isEscaped = !isEscaped && character == "\\" }
            return isEscaped || character != "\""
        }
    }
}
