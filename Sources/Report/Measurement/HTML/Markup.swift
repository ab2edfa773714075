import Exports

/// A piece of HTML or SVG. Text and attributes' values are escaped on input; names of elements and
/// attributes are constants of this program. So no text of a measurement can become markup.
struct Markup: Sendable {
    private(set) var source: String

    /// Empty markup.
    init() { source = "" }

    /// Text: control characters and invisible formatting are spelled out.
    init(_ text: String) { source = XML.text(text) }

    /// Lines of text; their breaks are kept.
    init(lines: [String]) { source = lines.map(XML.text).joined(separator: "\n") }

    /// An element. An attribute with an empty value is written without one.
    init(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>,
        _ children: [Markup] = []
    ) {
        source = "<\(name)"
        for (attribute, value) in attributes {
            source += value.isEmpty ? " \(attribute)" : " \(attribute)=\"\(XML.text(value))\""
        }
        source += ">"
        for child in children { source += child.source }
        source += "</\(name)>"
    }

    /// An element that contains only text.
    init(
        _ name: StaticString, _ attributes: KeyValuePairs<StaticString, String>,
        text: String
    ) {
        self.init(name, attributes, [Markup(text)])
    }

    static func + (left: Markup, right: Markup) -> Markup {
        var result = left
        result.source += right.source
        return result
    }

    static func += (left: inout Markup, right: Markup) { left.source += right.source }

    /// Elements on lines of their own, for people who read the source.
    static func lines(_ parts: [Markup]) -> Markup {
        var result = Markup()
        result.source = "\n"
        for part in parts { result.source += part.source + "\n" }
        return result
    }
}
