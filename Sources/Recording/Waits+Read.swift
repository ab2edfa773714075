import ProfileModel

extension TableReader {
    mutating func waits() throws(ReadFailure) -> [Wait] {
        var waits: [Wait] = []
        waits.reserveCapacity(try expectedRows(of: Schema.waits))
        try scanWaits { waits.append($0) }
        return waits
    }

    /// The waits at addresses: only the first one for each thread and address.
    mutating func placedWaits() throws(ReadFailure) -> [Wait] {
        var waits: [Wait] = []
        var seen: [ThreadIndex: Set<UInt64>] = [:]
        try scanWaits { wait in
            guard let place = wait.reason.place,
                seen[wait.thread, default: []].insert(place).inserted
            else { return }
            waits.append(wait)
        }
        return waits
    }

    private mutating func scanWaits(_ body: (Wait) -> Void) throws(ReadFailure) {
        let reasons = try waitReasons()
        try scan(Schema.waits) { row, rules throws(ReadFailure) in
            let reason: Int = try row.integer(4)
            guard reasons.indices.contains(reason) else { throw row.invalid(4) }
            let stack: Int32? = try row.optional(6)
            let wait = Wait(
                thread: ThreadIndex(try row.integer(1)), start: try row.time(2),
                end: try row.time(3), reason: reasons[reason], systemCall: try row.integer(5),
                stack: stack.map(StackID.init))
            try Self.admit { () throws(Inconsistency) in try rules.admit(wait) }
            body(wait)
        }
    }

    private mutating func waitReasons() throws(ReadFailure) -> [WaitReason] {
        var reasons: [WaitReason] = []
        try scan(Schema.waitReasons) { row, rules throws(ReadFailure) in
            guard let kind = WaitReason.Kind(rawValue: try row.text(1)) else {
                throw row.invalid(1)
            }
            let reason = WaitReason(
                kind, detail: try row.optionalText(2), owner: try row.optional(3),
                place: try row.optionalBits(4))
            try Self.admit { () throws(Inconsistency) in try rules.admit(reason) }
            reasons.append(reason)
        }
        return reasons
    }

    mutating func priorities() throws(ReadFailure) -> [Priority] {
        var priorities: [Priority] = []
        try scan(Schema.priorities) { row, rules throws(ReadFailure) in
            let priority = Priority(
                thread: ThreadIndex(try row.integer(1)), time: try row.time(2),
                policy: try row.integer(3), nice: try row.integer(4),
                realTime: try row.integer(5))
            try Self.admit { () throws(Inconsistency) in try rules.admit(priority) }
            priorities.append(priority)
        }
        return priorities
    }
}
