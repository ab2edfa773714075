/// Checks whether a disk limit would slow a program at all.
enum DiskCheck {
    /// Refuses a program whose own file is not on a disk: the limit would not slow its start.
    static func check(program path: String) throws(ConditionError) {
        guard let file = try? CachedFile(path: path) else { return }
        guard !file.kind.isProvable, file.kind != .other else { return }
        throw .unsupported(
            condition: "a disk rate (--disk)",
            missing: "\(path) is on a \(file.kind.words), which reads from no disk of this machine",
            remedy: "copy the program to a disk")
    }
}
