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
