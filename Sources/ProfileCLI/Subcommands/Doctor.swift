import Doctor
import Report
import Sampler
import Symbolicate

/// `firstlight doctor`.
enum DoctorCommand {
    /// Prints what works on this machine, and returns the exit status.
    static func run(_ options: DoctorOptions, _ console: Console) -> Int32 {
        let facts = Examination.run()
        let checks = Diagnosis(
            facts, libraryInformation: facts.libraryPath.map { DebugInformation(ofModuleAt: $0) }
        ).checks
        let text =
            options.format == .json
            ? CheckReport.json(checks) : console.words(CheckReport.text(checks))
        let status = Output.print(text, to: console)
        guard status == 0 else { return status }
        return Verdict(checks).canRecord ? 0 : OwnStatus.failure
    }
}

package enum CheckFormat: String, CaseIterable, Sendable {
    case text, json
}

/// The options of `doctor`.
package struct DoctorOptions: Sendable {
    package var format: CheckFormat

    package init(_ arguments: ParsedArguments) {
        format = arguments.text(.format).flatMap(CheckFormat.init) ?? .text
    }
}
