import TestSupport
import Testing

@testable import Launching
@testable import Sampler

@Suite struct ProcessImageTests {
    private static func image(_ text: String) -> ProcessImage? { ProcessImage(Array(text.utf8)) }

    @Test func valuesOfTheAuxiliaryVector() throws {
        let image = try #require(Self.image(ProcSamples.stat))
        #expect(image.command == Array("a) R (b".utf8))
        #expect(image.state == UInt8(ascii: "S"))
        #expect(image.flags == 4_194_304)
        #expect(image.startTime == 392_387)
        #expect(image.codeStart == 94_234_777_554_944)
        #expect(image.stackStart == 140_730_372_246_992)
        #expect(image.isProgram)
    }

    @Test func kernelThreadsForksAndTheDeadRunNoProgram() throws {
        var image = try #require(Self.image(ProcSamples.stat))
        image.flags |= 0x40
        #expect(!image.hasExecuted && !image.isProgram)
        image.flags = 0x0020_0000
        #expect(image.isKernelThread && !image.isProgram)
        image.flags = 0
        for state in "ZX".utf8 {
            image.state = state
            #expect(!image.isProgram)
        }
    }

    @Test func anExecuteIsAnotherImage() throws {
        let before = try #require(Self.image(ProcSamples.stat))
        let changes: [(inout ProcessImage) -> Void] = [
            { $0.stackStart += 16 }, { $0.codeStart += 4096 }, { $0.startTime += 1 },
            { $0.flags |= 0x40 },
        ]
        for change in changes {
            var after = before
            change(&after)
            #expect(after.identity != before.identity)
        }
        var renamed = before
        renamed.command = [1]
        renamed.state = UInt8(ascii: "R")
        #expect(renamed.identity == before.identity)
    }

    @Test func withoutAddressesTheNameTells() throws {
        var before = try #require(Self.image(ProcSamples.stat))
        before.codeStart = 1
        before.stackStart = 0
        var after = before
        #expect(after.identity == before.identity)
        after.command = [1]
        #expect(after.identity != before.identity)
    }

    @Test func anythingElseIsNone() {
        for text in ["", "1", "1 (a", "1 a)", ")(", "1 (a) S 1 2 3", "1 (a) S 1 2 3 4 5 -6 7"] {
            #expect(Self.image(text) == nil, "\(text)")
        }
        var random = SeededNumbers(seed: 7)
        let bytes = Array(ProcSamples.stat.utf8)
        for length in 0...bytes.count { _ = ProcessImage(Array(bytes.prefix(length))) }
        for _ in 0..<1000 { _ = ProcessImage(random.mutated(bytes)) }
    }
}
