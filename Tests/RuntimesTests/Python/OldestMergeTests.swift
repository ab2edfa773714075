import Architecture
import ProfileModel
import Runtimes
import Testing

/// Stacks of which only the oldest frames of Python's are known.
@Suite struct OldestMergeTests {
    /// Native frames of 64 bytes each, from 4096 on; the stack's words are given by their places.
    private struct Made {
        var loops: [Bool]
        var words: [UInt64: UInt64] = [:]

        var native: [PythonMerge.NativeFrame] {
            loops.enumerated().map {
                PythonMerge.NativeFrame(stackPointer: 4096 + 64 * UInt64($0), isLoop: $1)
            }
        }

        var snapshot: Snapshot {
            let bytes = (0..<8 * loops.count).flatMap { index in
                let word = words[4096 + 8 * UInt64(index)] ?? 0
                return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
            }
            return Snapshot(
                registers: Registers(programCounter: 1, stackPointer: 4096),
                stack: StackCopy(start: 4096, bytes: bytes))
        }
    }

    private let interpreter: PythonInterpreter
    private let code = PythonCode(
        name: "f", qualifiedName: "f", file: "f.py",
        lines: PythonLineTable(.locations, [], firstLine: 1), length: 40, firstTraceable: 0)
    /// From a code object to its instructions, in 3.12.
    private static let start: UInt64 = 192

    init() throws { interpreter = try #require(MadePython().interpreter) }

    /// Frames of code at 0x10000, 0x11000 …, which lie at 0x800, 0x900 …
    private func stack(
        _ activations: [(place: UInt64?, frames: Range<Int>)], isCut: Bool = false
    ) -> PythonStack {
        PythonStack(
            activations: activations.map { place, frames in
                PythonStack.Activation(
                    place: place,
                    frames: frames.map { number in
                        PythonStack.Frame(
                            key: PythonCodeKey(
                                address: 0x10000 + 0x1000 * UInt64(number), identity: []),
                            code: code, instruction: 0, address: 0x800 + 0x100 * UInt64(number))
                    })
            }, isCut: isCut)
    }

    private func merged(
        _ made: Made, _ stack: PythonStack, isComplete: Bool = true
    ) -> PythonMerge.Oldest? {
        PythonMerge.oldestSteps(made.native, isComplete: isComplete, stack) { region in
            LoopWords(made.snapshot, region, interpreter)
        }
    }

    /// It may have run others: the outermost one is where it began, and its native frame stays.
    @Test func withoutAWordTheOutermostIsShown() {
        let made = Made(loops: [false, true, false, true])
        let found = merged(made, stack([(nil, 0..<3), (nil, 3..<4)]))
        #expect(
            found?.steps == [
                .native(0), .native(1), .python(0, 2), .native(2), .python(1, 0),
            ])
        #expect(found?.isWhole == false)
    }

    @Test(arguments: 0..<3) func theLoopsRegistersTellTheFunction(current: Int) {
        var made = Made(loops: [false, true, false, true])
        made.words[4096 + 64] = 0x800 + 0x100 * UInt64(current)
        made.words[4096 + 8] = 0x10000 + 0x1000 * UInt64(current) + Self.start + 6
        let found = merged(made, stack([(nil, 0..<3), (nil, 3..<4)]))
        let frames = (current..<3).map { PythonMerge.Step.python(0, $0) }
        #expect(found?.steps == [.native(0)] + frames + [.native(2), .python(1, 0)])
        #expect(found?.isWhole == true)
    }

    @Test func neitherAFrameNorAnInstructionIsEnoughAlone() {
        for word in [0x800, 0x10000 + Self.start, 0x10000 + Self.start + 39] {
            var made = Made(loops: [true, true])
            made.words[4096 + 16] = word
            #expect(merged(made, stack([(nil, 0..<1), (nil, 3..<4)]))?.isWhole == false)
        }
        var made = Made(loops: [true, true])
        made.words[4096 + 16] = 0x800
        made.words[4096 + 24] = 0x10000 + Self.start + 40
        #expect(merged(made, stack([(nil, 0..<1), (nil, 3..<4)]))?.isWhole == false)
    }

    /// Newer loops have words of their own, and it is not known which frames they run.
    @Test func wordsOfNewerLoopsDoNotCount() {
        var made = Made(loops: [true, false, true, true])
        made.words[4096 + 16] = 0x800
        made.words[4096 + 24] = 0x10000 + Self.start
        let all = stack([(nil, 0..<1), (nil, 3..<4)])
        #expect(
            merged(made, all)?.steps == [
                .native(0), .native(1), .native(2), .python(0, 0), .python(1, 0),
            ])
        made.words[4096 + 64 + 16] = 0x800
        made.words[4096 + 128 + 24] = 0x10000 + Self.start
        let found = merged(made, all)
        #expect(found?.steps == [.native(0), .native(1), .python(0, 0), .python(1, 0)])
        #expect(found?.isWhole == false)
    }

    @Test func placesSayWhoseNativeFramesTheyAre() {
        let made = Made(loops: [false, false, false, false, false])
        let found = merged(made, stack([(4096 + 140, 0..<1), (4096 + 200, 3..<4)]))
        #expect(
            found?.steps == [
                .native(0), .native(1), .native(2), .python(0, 0), .python(1, 0), .native(4),
            ])
    }

    @Test func unmatchedFramesStayNative() {
        let made = Made(loops: [true, false, true])
        #expect(merged(made, stack([(nil, 0..<1)]), isComplete: false) == nil)
        #expect(merged(made, stack([(nil, 0..<1)], isCut: true)) == nil)
        #expect(merged(made, stack([])) == nil)
        #expect(merged(made, stack([(nil, 0..<1), (nil, 1..<2), (nil, 2..<3)])) == nil)
        #expect(merged(made, stack([(4096 + 140, 0..<1), (4096 + 8, 1..<2)])) == nil)
    }
}
