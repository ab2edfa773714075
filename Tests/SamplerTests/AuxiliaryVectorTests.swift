import Glibc
import Testing

@testable import ProcessIO
@testable import Sampler

@Suite struct AuxiliaryVectorTests {
    /// Behind arguments and environment, however many there are.
    @Test func whereTheEntryIsToldOnTheStack() {
        let vector = AuxiliaryVector(Self.bytes([9, 0x1234_5000, 0, 0]))
        func pointer(_ stack: [UInt64]) -> Int? {
            let memory = MadeMemory(Self.bytes(stack) + [UInt8](repeating: 0, count: 1 << 16))
            defer { withExtendedLifetime(memory) {} }
            return vector.entryPointer(onStack: memory.address, MadeImage.memory).map {
                Int($0 - memory.address) / 8
            }
        }
        let auxiliary: [UInt64] = [3, 7, 9, 0x1234_5000, 0, 0]
        #expect(pointer([2, 1, 1, 0, 1, 1, 1, 0] + auxiliary) == 11)
        #expect(pointer([0, 0, 0] + auxiliary) == 6)
        #expect(pointer([1, 1, 0, 0, 9, 0x5000, 0, 0]) == nil)
        #expect(pointer([1, 1, 0, 0, 3, 7, 0, 0]) == nil)
        for count in [UInt64.max, 1 << 62, 1 << 15] {
            #expect(pointer([count, 1, 0, 0] + auxiliary) == nil)
        }
        #expect(vector.entryPointer(onStack: 0, MadeImage.memory) == nil)
        #expect(vector.entryPointer(onStack: .max, MadeImage.memory) == nil)
        #expect(vector.entryPointer(onStack: 0, nil) == nil)
    }

    private static func bytes(_ words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    @Test func theEntriesThatAreWanted() {
        let vector = AuxiliaryVector(
            Self.bytes([33, 1, 3, 2, 99, 77, 5, 3, 7, 4, 9, 5, 0, 0, 9, 6]))
        #expect(vector.vdso == 1)
        #expect(vector.programHeaders == 2)
        #expect(vector.programHeaderCount == 3)
        #expect(vector.linkerBase == 4)
        #expect(vector.entry == 5)
    }

    @Test func aShortOneHasWhatIsThere() {
        let bytes = Self.bytes([9, 5, 33, 1])
        for length in 0...bytes.count {
            let vector = AuxiliaryVector(Array(bytes.prefix(length)))
            #expect(vector.entry == (length >= 16 ? 5 : 0))
            #expect(vector.vdso == (length >= 32 ? 1 : 0))
        }
    }

    @Test func ourOwn() {
        var buffer = ReadBuffer()
        buffer.readAll(path: "/proc/self/auxv")
        let vector = AuxiliaryVector(buffer.contents)
        #expect(vector.programHeaders == auxiliaryValue(3))
        #expect(vector.programHeaderCount == auxiliaryValue(5))
        #expect(vector.linkerBase == auxiliaryValue(7))
        #expect(vector.entry == auxiliaryValue(9))
        #expect(vector.vdso == auxiliaryValue(33))
        #expect(vector.linkerBase != 0)
    }
}
