import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// The file of the symbol cache: what was written is read, and nothing else.
struct CachedAnswersTests {
    private static let identity = Array("/usr/bin/program 1 2 3".utf8)

    private static func answers(seed: UInt64) -> [UInt64: [SourceFrame]] {
        var numbers = SeededNumbers(seed: seed)
        var result: [UInt64: [SourceFrame]] = [:]
        for _ in 0..<50 {
            let count = Int.random(in: 1...6, using: &numbers)
            result[UInt64.random(in: 0...(.max), using: &numbers)] = (0..<count).map { _ in
                let number = Int.random(in: 0..<20, using: &numbers)
                return SourceFrame(
                    function: number == 0 ? nil : "name \(number) é",
                    file: number % 3 == 0 ? nil : "/source/\(number).c",
                    line: number % 5 == 0 ? nil : Int32(number) &* 1_000,
                    isInlined: Bool.random(using: &numbers),
                    isUnoptimized: Bool.random(using: &numbers))
            }
        }
        return result
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func whatIsWrittenIsRead(seed: UInt64) throws {
        let frames = Self.answers(seed: seed)
        let bytes = CachedAnswers(frames).encoded(identity: Self.identity)
        let read = try #require(CachedAnswers(bytes, identity: Self.identity))
        #expect(read.frames == frames)
    }

    @Test func answersOfOtherFilesAreNone() {
        let bytes = CachedAnswers(Self.answers(seed: 1)).encoded(identity: Self.identity)
        #expect(CachedAnswers(bytes, identity: Self.identity + [0]) == nil)
        #expect(CachedAnswers(bytes, identity: Self.identity.reversed()) == nil)
        #expect(CachedAnswers(bytes, identity: []) == nil)
    }

    @Test func everyChangedByteIsNoticed() {
        let bytes = CachedAnswers(Self.answers(seed: 2)).encoded(identity: Self.identity)
        for index in stride(from: 0, to: bytes.count, by: 3) {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(CachedAnswers(damaged, identity: Self.identity) == nil)
        }
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(CachedAnswers(Array(bytes[..<length]), identity: Self.identity) == nil)
        }
        #expect(CachedAnswers(bytes + [0], identity: Self.identity) == nil)
    }

    /// With a checksum that is right, too: whoever writes such a file shall not crash us.
    @Test func madeUpFilesAreRead() {
        let bytes = CachedAnswers(Self.answers(seed: 3)).encoded(identity: Self.identity)
        var numbers = SeededNumbers(seed: 4)
        for _ in 0..<500 {
            var forged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let index = Int.random(in: 16..<forged.count, using: &numbers)
                forged[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
            }
            let checksum = Self.crc32(forged[16...])
            for byte in 0..<4 { forged[12 + byte] = UInt8(checksum >> UInt32(8 * byte) & 0xFF) }
            if let read = CachedAnswers(forged, identity: Self.identity) {
                #expect(read.frames.values.allSatisfy { !$0.isEmpty })
            }
        }
    }

    /// Bit by bit, as the standard has it.
    private static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var remainder = ~UInt32(0)
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 {
                remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1
            }
        }
        return ~remainder
    }
}
