/// Who started whom.
enum Ancestry {
    /// Deeper trees than this are not climbed: ids may be used again while we look.
    private static let limit = 64

    /// Whether a process is another, or descends from it; nil: it is gone, or its parents are.
    ///
    /// - Parameter parent: of a process; nil when it is gone.
    static func isWithin(
        _ pid: Int32, _ root: Int32, parent: (Int32) -> Int32? = Ancestry.parent(of:)
    ) -> Bool? {
        var current = pid
        for _ in 0..<limit {
            if current == root { return true }
            if current <= 1 { return false }
            guard let next = parent(current) else { return nil }
            current = next
        }
        return false
    }

    static func parent(of pid: Int32) -> Int32? {
        ProcessFiles(pid: pid).status("PPid:").flatMap { Int32(exactly: $0) }
    }
}
