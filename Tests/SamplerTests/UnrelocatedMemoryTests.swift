import Glibc
import ProfileModel
import Testing

@testable import Images
@testable import ProcessIO
@testable import Sampler

/// An image of our own memory's, with relocations in all forms.
@Suite struct UnrelocatedMemoryTests {
    /// 64 words: the dynamic section, tables, and data from word 40 on.
    private final class Image {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 128)
        var start: UInt64 { UInt64(UInt(bitPattern: words)) }
        var bias: UInt64 { start }

        init() { words.initialize(repeating: 0, count: 128) }
        deinit { words.deallocate() }

        func fill(_ values: [UInt64], from index: Int) {
            for (offset, value) in values.enumerated() { words[index + offset] = value }
        }

        var memory: UnrelocatedMemory? {
            UnrelocatedMemory(
                of: LinkedObject(bias: bias, path: "", dynamicAddress: 0), dynamic: start,
                memory: TargetMemory(pid: getpid()))
        }

        /// A word of the data as it will be.
        func word(_ index: Int) -> UInt64? {
            memory?.read(at: start + UInt64(8 * index), count: 8).littleEndianWord(at: 0)
        }
    }

    /// One of addresses, one of another kind, and packed ones: at words 42, 43, 45 and 106.
    private func image() -> Image {
        let image = Image()
        image.fill([7, 8 * 16, 8, 48, 36, 8 * 24, 35, 24, 0, 0], from: 0)
        image.fill([8 * 40, 8, 0x1000, 8 * 41, 37, 0x2000], from: 16)
        image.fill([8 * 42, 0b1011, 1 | 1 << 1], from: 24)
        image.fill([1, 2, 3, 4, 5, 6], from: 40)
        image.fill([7], from: 106)
        return image
    }

    @Test func wordsAreWhatTheyWillBe() {
        let image = image()
        let (bias, expected) = (
            image.bias, [40: 0x1000, 42: 3, 43: 4, 45: 6, 106: 7] as [Int: UInt64]
        )
        for (index, value) in expected { #expect(image.word(index) == bias &+ value, "\(index)") }
        // Neither of the packed ones' nor of a kind whose words are addresses.
        #expect(image.word(41) == 2)
        #expect(image.word(44) == 5)
    }

    /// For any request, each byte is that of the whole.
    @Test func partsOfWords() throws {
        let image = image()
        let memory = try #require(image.memory)
        let start = image.start + 8 * 39
        let whole = memory.read(at: start, count: 64)
        #expect(whole.count == 64)
        for first in 0..<24 {
            for count in 0..<24 {
                let part = memory.read(at: start + UInt64(first), count: count)
                #expect(part == Array(whole[first..<first + count]))
            }
        }
    }

    @Test func tablesThatAreTooLarge() {
        for index in [3, 7] {
            let image = image()
            image.words[index] = 1 << 40
            #expect(image.memory == nil)
        }
    }

    @Test func aTableThatIsNowhere() {
        let image = image()
        image.words[1] = 1 << 50
        #expect(image.memory == nil)
    }
}
