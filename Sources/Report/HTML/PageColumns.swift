import Analysis
import Exports
import ProfileModel

/// Lists in columns, as pages unpack them. Texts are escaped for display.
extension JSONWriter {
    mutating func text(_ name: String, _ text: String?) { field(name, text?.escapedForDisplay) }

    /// Names, modules, languages, and whether functions are the developer's own, by position.
    mutating func functions(_ functions: [Function]) {
        key("functions")
        object { writer in
            writer.key("name")
            writer.array(functions) { $0.value($1.name.escapedForDisplay) }
            // A shortened form of names that are longer than a line; by position.
            writer.key("short")
            writer.object { writer in
                for (index, function) in functions.enumerated() {
                    let name = function.name.escapedForDisplay
                    guard name.utf8.count > Self.longName else { continue }
                    writer.field(String(index), name.shortenedFunction(to: Self.longName))
                }
            }
            writer.key("module")
            writer.array(functions) { $0.value($1.module.escapedForDisplay) }
            writer.column("own", functions) { $0.isOwn ? 1 : 0 }
            writer.key("languages")
            writer.array(Language.allCases) { $0.value($1.name) }
            // -1: unknown, or not code.
            writer.column("language", functions) { function in
                Int64(Language.allCases.firstIndex { $0 == function.language } ?? -1)
            }
            writer.column("scripted", functions) { $0.isScripted ? 1 : 0 }
        }
    }

    private static var longName: Int { 100 }

    mutating func column<Element>(
        _ name: String, _ values: [Element], _ number: (Element) -> Int64
    ) {
        key(name)
        array(values) { $0.value(number($1)) }
    }

    /// The first number, and then the difference of each from the previous one.
    mutating func differences<Element>(
        _ name: String, _ values: [Element], _ number: (Element) -> Int64
    ) {
        var last: Int64 = 0
        column(name, values) { value in
            let number = number(value)
            defer { last = number }
            return number - last
        }
    }

    mutating func gaps<Element>(
        _ values: [Element], _ times: (Element) -> (start: TimeSpan, end: TimeSpan)
    ) {
        var last = TimeSpan.zero
        column("gap", values) { value in
            let (start, end) = times(value)
            defer { last = end }
            return (start - last).nanoseconds
        }
    }
}
