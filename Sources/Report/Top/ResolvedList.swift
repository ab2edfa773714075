package import Analysis
import Exports
import ProfileModel

/// A list of resolved things as text: one JSON object in each line. Empty lines and those that
/// begin with `#` are ignored.
package struct ResolvedList: Sendable {
    package var entries: [ResolvedEntry] = []
    /// The unusable lines with the reason, by number, from 1.
    package var problems: [(line: Int, reason: String)] = []

    package init(_ text: String) {
        var number = 0
        // In Swift, a carriage return and a line break form one character, so this splits scalars.
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let words = Substring(line).drop { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = words.first, first != "#" else { continue }
            do {
                entries.append(try Self.entry(words))
            } catch {
                problems.append((number, error.reason))
            }
        }
    }

    private static func entry(_ line: Substring) throws(FlatJSON.Failure) -> ResolvedEntry {
        let texts = try FlatJSON.texts(in: line)
        guard let kind = TopKind(rawValue: texts["kind"] ?? TopKind.function.rawValue) else {
            let kinds = TopKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw FlatJSON.Failure(reason: "\"kind\" must be one of \(kinds)")
        }
        guard let name = texts["name"], !name.isEmpty else {
            throw FlatJSON.Failure(reason: "\"name\" is missing: what was resolved")
        }
        guard let since = texts["since"].flatMap(CalendarDate.seconds(since1970:)) else {
            throw FlatJSON.Failure(
                reason: "\"since\" must be a date, like 2026-11-24 or 2026-11-24T18:00:00Z")
        }
        var reason: WaitReason.Kind?
        if let word = texts["reason"] {
            guard let known = WaitReason.Kind(rawValue: word) else {
                throw FlatJSON.Failure(reason: "\"reason\" is not a reason of waits")
            }
            reason = known
        }
        return ResolvedEntry(
            ResolvedEntry.Thing(kind, name, module: texts["module"], reason: reason),
            since: since, build: (texts["build"] ?? "").lowercased())
    }

    /// One line for each entry, each ended by a line break.
    package static func lines(_ entries: [ResolvedEntry]) -> String {
        entries.map { entry in
            var writer = JSONWriter()
            writer.object { fields(entry, &$0) }
            writer.endLine()
            return String(decoding: writer.bytes, as: UTF8.self)
        }.joined()
    }

    /// An entry's members in a list.
    static func fields(_ entry: ResolvedEntry, _ writer: inout JSONWriter) {
        writer.field("since", CalendarDate.internetText(secondsSince1970: entry.since))
        if !entry.build.isEmpty { writer.field("build", entry.build) }
        writer.field("kind", entry.thing.kind.rawValue)
        if let reason = entry.thing.reason { writer.field("reason", reason.rawValue) }
        if let module = entry.thing.module { writer.field("module", module) }
        writer.field("name", entry.thing.name)
    }
}
