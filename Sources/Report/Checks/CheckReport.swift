import Exports

/// Checks as text and as JSON. Both end in a line break.
package enum CheckReport {
    /// One line per check, with the remedy below it; at the end, the conclusion.
    package static func text(_ checks: [Check]) -> String {
        let level = Check.Level.allCases.map(\.rawValue.count).max() ?? 0
        let subject = checks.map(\.subject.count).max() ?? 0
        let margin = String(repeating: " ", count: level + 2 + subject + 2)
        var lines: [String] = []
        for check in checks {
            lines.append(
                padded(check.level.rawValue, to: level + 2) + padded(check.subject, to: subject + 2)
                    + check.finding.escapedForDisplay)
            if let remedy = check.remedy { lines.append(margin + remedy.escapedForDisplay) }
        }
        return (lines + ["", conclusion(Verdict(checks))]).joined(separator: "\n") + "\n"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func conclusion(_ verdict: Verdict) -> String {
        let abilities =
            switch (verdict.canRecord, verdict.canAttach) {
            case (true, true): "record and attach work here"
            case (true, false): "record works here, attach does not"
            case (false, _): "neither record nor attach works here"
            }
        let see = verdict.blemishes.joined(separator: ", ")
        return see.isEmpty ? abilities : "\(abilities); see \(see)"
    }

    /// By the schema in `docs/json.md`, which may only grow.
    package static func json(_ checks: [Check]) -> String {
        let verdict = Verdict(checks)
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("schema", JSONSchema.doctor.version)
            writer.field("canRecord", verdict.canRecord)
            writer.field("canAttach", verdict.canAttach)
            writer.key("checks")
            writer.array(checks, inLines: true) { writer, check in
                writer.object { writer in
                    writer.field("subject", check.subject)
                    writer.field("level", check.level.rawValue)
                    writer.field("finding", check.finding)
                    writer.field("remedy", check.remedy)
                }
            }
            writer.endLine()
        }
        writer.endLine()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
