package import ProfileModel

/// The result of a gate, with its basis.
package struct GateResult: Hashable, Sendable {
    package enum Basis: Hashable, Sendable {
        /// Launches of both programs in turns.
        case turns(GateDecision)
        /// Stored figures, which only advise.
        case advice(StoredAdvice)
    }

    package var rule: GateRule
    package var basis: Basis
    /// The difference of each phase, over all pairs that count; empty: there were no turns, or no
    /// pairs.
    package var phases: [PartDifference]
    /// The same for the processes that launches start; also empty if there are none, or they are
    /// not known.
    package var processes: [PartDifference]

    package var outcome: GateOutcome {
        switch basis {
        case .turns(let decision): decision.outcome
        case .advice(let advice): advice.outcome
        }
    }

    /// The phase that a regression comes from; nil: there is none, or no single phase surely grew.
    package var culprit: PartDifference? { outcome == .regression ? phases.culprit : nil }

    /// The processes that surely took longer; nil as for ``culprit``.
    package var slowerProcess: PartDifference? {
        outcome == .regression ? processes.culprit : nil
    }
}

extension GateResult {
    /// For two programs that took turns. Where too few launches count for an answer, the result is
    /// inconclusive.
    package init(ofTurns measurement: Measurement, rule: GateRule) {
        let undecided = GateDecision(decision: .inconclusive(.notSeen), seen: nil, second: nil)
        let decision =
            switch rule.answer(to: measurement.launches) {
            case .decided(let decision): decision
            case .measure: undecided
            }
        self.init(
            rule: rule, basis: .turns(decision),
            phases: PartDifference.phases(
                of: measurement.launches, confidence: rule.allowed.confidence),
            processes: PartDifference.processes(
                of: measurement.launches, confidence: rule.allowed.confidence))
    }

    /// For one program, and stored figures of another.
    package init(
        of measurement: Measurement, against stored: Measurement,
        because reason: StoredBaseline.Reason, rule: GateRule
    ) {
        let advice = StoredAdvice(reason, of: measurement, against: stored, rule: rule.allowed)
        self.init(rule: rule, basis: .advice(advice), phases: [], processes: [])
    }
}
