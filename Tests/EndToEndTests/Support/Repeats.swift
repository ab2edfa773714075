import Glibc
import Testing

/// Notes what was tried again, in the file that REPEATS names (`scripts/run-tests`): lines of
/// `attempt TEST: WHY` for each attempt after the first, and `timings TEST: WHY` for a failure that
/// is only about figures.
enum Repeats {
    static func note(_ kind: String, _ misses: Misses) {
        guard let path = Setup.environment["REPEATS"], let file = fopen(path, "ae") else { return }
        defer { fclose(file) }
        let test = Test.current?.name.prefix { $0 != "(" } ?? "?"
        fputs("\(kind) \(test): \(misses.list.joined(separator: "; ").prefix(300))\n", file)
    }
}
