import Glibc
import ProfileModel
import Testing

@testable import Sampler

/// Our own memory is read as another's.
@Suite struct TargetMemoryTests {
    private let memory = TargetMemory(pid: getpid())

    /// More than one call asks for, some of them where nothing is: first, last, side by side.
    @Test func piecesThatCannotBeReadAreZeros() {
        let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: 700)
        defer { words.deallocate() }
        for index in words.indices { words[index] = UInt64(index) + 1 }
        let start = UInt64(UInt(bitPattern: words.baseAddress))
        let missing: Set = [0, 5, 6, 255, 256, 257, 511, 699]
        let addresses = words.indices.map { missing.contains($0) ? 8 : start + 8 * UInt64($0) }
        let bytes = memory.read(at: addresses, count: 8)
        #expect(bytes.count == 8 * 700)
        for index in words.indices {
            let value = bytes.littleEndianWord(at: 8 * index)
            #expect(value == (missing.contains(index) ? 0 : UInt64(index) + 1), "\(index)")
        }
    }

    @Test func nothingIsAskedForNothing() {
        #expect(memory.read(at: [UInt64](), count: 8).isEmpty)
        #expect(memory.read(at: [8], count: 0).isEmpty)
        #expect(memory.read(at: [8], count: -1).isEmpty)
        #expect(memory.read(at: [8, 16], count: 3) == [UInt8](repeating: 0, count: 6))
    }

    @Test func aProcessThatIsNotThereHasZeros() {
        #expect(
            TargetMemory(pid: .max).read(at: [8, 16], count: 8)
                == [UInt8](repeating: 0, count: 16))
    }
}
