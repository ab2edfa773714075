import EndToEndSupport
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Python programs that use signals, masks, children and long calls: all of this must stay
    /// unchanged.
    @Suite struct PythonSignals {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// A signal that is not the program's own, or a call that it cut short, would give wrong
        /// results.
        @Test(
            .requires(!PythonPrograms.interpreters.isEmpty, "no CPython of 3.8 to 3.14"),
            arguments: PythonPrograms.interpreters)
        func nothingIsChanged(python: String) throws {
            let script = try Setup.fixture("pysignals.py")
            let recorded = try Firstlight.record([python, script, "2", "1"], in: scratch)
            #expect(recorded.finished.status == 0)
            #expect(recorded.finished.output == "wrong: []\nwrong: []\n")
            // The interpreter's timer has shown its functions, unless it has none of its own.
            let cpu = try recorded.folded("--weight", "cpu")
            #expect(cpu.nanoseconds(through: "compute") > 0)
        }
    }
}
