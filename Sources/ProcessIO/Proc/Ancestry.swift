/// Tells which process started which.
package enum Ancestry {
    /// Deeper trees are not climbed: while we look, the kernel may give an id to another process.
    private static let limit = 64

    /// True if a process is another one or descends from it; nil: it is gone, or an ancestor is.
    ///
    /// - Parameter parent: gives a process's parent; nil when the process is gone.
    package static func isWithin(
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

    package static func parent(of pid: Int32) -> Int32? {
        ProcessFiles(pid: pid).status("PPid:").flatMap { Int32(exactly: $0) }
    }
}
