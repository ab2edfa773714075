import Analysis
import Conditions
import Glibc
import Measurer

/// The cause of a regression: one launch of each program with stacks, compared (`--explain`).
struct GateExplanation {
    let options: MeasureOptions
    let launcher: ProgramLauncher

    /// - Parameter tell: receives the reason if there is no comparison.
    /// - Returns: nil: there is none.
    func comparison(tell: (String) -> Void) throws(MeasuringFailure) -> ProfileComparison? {
        let folder: TemporaryFolder
        do {
            folder = try TemporaryFolder(
                in: Self.parent, prefix: "firstlight-gate", condition: "--explain")
        } catch {
            tell("\(error)")
            return nil
        }
        defer { withExtendedLifetime(folder) {} }
        let launch = StackedLaunch(options: options, launcher: launcher)
        // The first program is the measured one, the second its baseline.
        guard
            let before = try launch.record(
                arm: 1, to: folder.path + "/before.firstlight", tell: tell),
            let after = try launch.record(
                arm: 0, to: folder.path + "/after.firstlight", tell: tell)
        else { return nil }
        return ProfileComparison(before: before, after: after)
    }

    private static var parent: String {
        getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }
}
