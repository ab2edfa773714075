import ProfileModel
import Runtimes
import Testing

/// Stacks whose newest frames were seen a moment too late.
@Suite struct DoubtfulFramesTests {
    private static let importlib = "<frozen importlib._bootstrap>"

    private func frame(_ name: String, _ file: String, at address: UInt64) -> PythonStack.Frame {
        let code = PythonCode(
            name: name, qualifiedName: name, file: file,
            lines: PythonLineTable(.locations, [], firstLine: 1), length: 40, firstTraceable: 0)
        return PythonStack.Frame(
            key: PythonCodeKey(address: 0x1000 + address, identity: []), code: code, instruction: 0,
            address: address)
    }

    /// Newest first: a function that a module has called, the module, who loads it, the program.
    private func stack(place: UInt64? = 4096) -> PythonStack {
        PythonStack(
            activations: [
                .init(place: place, frames: [frame("leaf", "a.py", at: 6)]),
                .init(
                    place: place.map { $0 + 64 },
                    frames: [frame("helper", "a.py", at: 5), frame("<module>", "a.py", at: 4)]),
                .init(
                    place: place.map { $0 + 128 },
                    frames: [
                        frame("_call_with_frames_removed", Self.importlib, at: 3),
                        frame("_find_and_load", Self.importlib, at: 2),
                    ]),
                .init(
                    place: place.map { $0 + 192 }, frames: [frame("<module>", "app.py", at: 1)]),
            ], isCut: false)
    }

    private func addresses(_ stack: PythonStack) -> [[UInt64]] {
        stack.activations.map { $0.frames.map(\.address) }
    }

    @Test func withoutDoubtAllIsBelieved() {
        #expect(stack().believable(without: []).map(addresses) == [[[6], [5, 4], [3, 2], [1]]])
    }

    /// Its code, and what that has called, may have come since.
    @Test func theImportOfAModuleWhoseCodeRunsHadBegun() {
        let found = stack().believable(without: [6, 5, 4, 3, 2])
        #expect(found.map(addresses) == [[[3, 2], [1]], [[1]]])
    }

    @Test func otherwiseOnlyTheSteadyPartIsBelieved() {
        #expect(stack().believable(without: [6]).map(addresses) == [[[5, 4], [3, 2], [1]]])
        #expect(stack().believable(without: [6, 5]).map(addresses) == [[[4], [3, 2], [1]]])
        #expect(stack().believable(without: [6, 5, 4]).map(addresses) == [[[3, 2], [1]]])
        #expect(stack().believable(without: [6, 5, 4, 3]).map(addresses) == [[[2], [1]]])
    }

    /// Before 3.11 nothing says which native frame runs what.
    @Test func withoutPlacesNothingDoubtfulIsBelieved() {
        let found = stack(place: nil).believable(without: [6, 5, 4, 3, 2])
        #expect(found.map(addresses) == [[[1]]])
    }

    @Test func aModulesCodeThatSomebodyElseRunsIsAnyCode() {
        var executed = stack()
        executed.activations[2].frames = [frame("run", "app.py", at: 3)]
        #expect(executed.believable(without: [6, 5, 4, 3]).map(addresses) == [[[1]]])
        // Importlib looks for it still.
        executed.activations[2].frames = [frame("find_spec", Self.importlib, at: 3)]
        #expect(executed.believable(without: [6, 5, 4, 3]).map(addresses) == [[[1]]])
    }

    @Test func whereAllIsDoubtfulNothingIsLeft() {
        let found = stack().believable(without: [6, 5, 4, 3, 2, 1])
        #expect(found.map(addresses) == [[[3, 2], [1]], []])
        #expect(PythonStack(activations: [], isCut: false).believable(without: [1]).count == 1)
    }
}
