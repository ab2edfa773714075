import ProfileModel

/// The rule for wake-ups; the one for runs is next to the rule for slices.
extension Consistency {
    mutating func admit(_ wakeup: Wakeup) throws(Inconsistency) {
        try check(wakeup.thread, "wakeups", wakeups)
        if let waker = wakeup.wakerThread { try check(waker, "wakeups", wakeups) }
        try check(wakeup.time, "wakeups", wakeups)
        guard wakeup.waker >= 0 else {
            throw Inconsistency(table: "wakeups", row: wakeups, problem: "a negative thread id")
        }
        wakeups += 1
    }
}
