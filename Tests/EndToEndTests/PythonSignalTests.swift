import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Python programs that use signals, masks, children and long calls: nothing of it may change.
    @Suite struct PythonSignals {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// What would be wrong with a signal that is not the program's own, or with a call that it cut.
        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func nothingIsChanged(python: String) throws {
            let script = try Setup.fixture("pysignals.py")
            let recorded = try Firstlight.record([python, script, "2", "1"], in: scratch)
            #expect(recorded.finished.status == 0)
            #expect(recorded.finished.output == "wrong: []\nwrong: []\n")
            // Its timer has shown what it did, unless it has no functions of its own.
            let cpu = try recorded.folded("--weight", "cpu")
            #expect(cpu.nanoseconds(through: "compute") > 0)
        }
    }
}
