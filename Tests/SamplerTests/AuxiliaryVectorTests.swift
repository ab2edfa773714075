import Glibc
import Testing

@testable import Sampler

@Suite struct AuxiliaryVectorTests {
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
