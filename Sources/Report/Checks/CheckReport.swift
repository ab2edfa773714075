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

/// One fact about a machine and its user.
package struct Check: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable, CaseIterable {
        case ok
        /// It works, but not as well as it could.
        case limited
        /// It does not work.
        case no
    }

    /// The capability that is missing if the level is ``Level/no``.
    package enum Need: Hashable, Sendable {
        /// Any recording.
        case record
        /// Attaching only.
        case attach
        /// Neither: something else does not work.
        case none
    }

    package var subject: String
    package var level: Level
    /// The fact.
    package var finding: String
    /// How to fix it; nil: there is nothing to fix.
    package var remedy: String?
    package var need: Need

    package init(
        _ subject: String, _ level: Level, _ finding: String, remedy: String? = nil,
        need: Need = .none
    ) {
        self.subject = subject
        self.level = level
        self.finding = finding
        self.remedy = remedy
        self.need = need
    }
}

/// The conclusion from all checks.
package struct Verdict: Hashable, Sendable {
    package var canRecord: Bool
    package var canAttach: Bool
    /// The subjects that are not ok, in order.
    package var blemishes: [String]

    package init(_ checks: [Check]) {
        let missing = Set(checks.filter { $0.level == .no }.map(\.need))
        canRecord = !missing.contains(.record)
        canAttach = canRecord && !missing.contains(.attach)
        blemishes = checks.filter { $0.level != .ok }.map(\.subject)
    }
}
