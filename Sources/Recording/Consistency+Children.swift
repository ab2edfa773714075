import ProfileModel

/// The rules for children, and for references to them.
extension Consistency {
    mutating func admit(_ child: ChildProcess) throws(Inconsistency) {
        try check(child, row: children)
        children += 1
    }

    /// A changed version of a child that was admitted before.
    func checkUpdate(_ child: ChildProcess, at index: ChildIndex) throws(Inconsistency) {
        try check(index, "children", index.rawValue)
        try check(child, row: index.rawValue)
    }

    private func check(_ child: ChildProcess, row: Int) throws(Inconsistency) {
        func problem(_ text: String) -> Inconsistency {
            Inconsistency(table: "children", row: row, problem: text)
        }
        try check(child.start, child.end ?? child.start, "children", row)
        guard child.pid > 0, child.parent >= 0, 0...Self.latest ~= child.cpu?.nanoseconds ?? 0
        else { throw problem("a value out of range") }
        if let parent = child.parentIndex, !(0..<row ~= parent.rawValue) {
            throw problem("its parent does not precede it")
        }
        if child.file?.contains("/") == true { throw problem("its file is in another folder") }
    }

    /// nil is the recorded process.
    func check(_ child: ChildIndex?, _ table: String, _ row: Int) throws(Inconsistency) {
        guard let index = child?.rawValue, !(0..<children ~= index) else { return }
        throw Inconsistency(table: table, row: row, problem: "no such child")
    }
}
