import ProfileModel

/// The rules of waits and priorities.
extension Consistency {
    mutating func admit(_ reason: WaitReason) throws(Inconsistency) {
        guard reason.owner ?? 1 > 0 else {
            throw Inconsistency(
                table: "wait_reasons", row: waitReasons, problem: "its owner is no thread")
        }
        waitReasons += 1
    }

    mutating func admit(_ wait: Wait) throws(Inconsistency) {
        let (table, row) = ("waits", waits)
        try check(wait.thread, table, row)
        try check(wait.start, wait.end, table, row)
        if let stack = wait.stack { try check(stack, table, row) }
        guard wait.systemCall >= -1 else {
            throw Inconsistency(table: table, row: row, problem: "no such system call")
        }
        waits += 1
    }

    mutating func admit(_ priority: Priority) throws(Inconsistency) {
        let (table, row) = ("priorities", priorities)
        try check(priority.thread, table, row)
        try check(priority.time, table, row)
        priorities += 1
    }
}
