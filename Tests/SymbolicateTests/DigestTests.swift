import Symbolicate
import TestSupport
import Testing

/// The digest that tells damaged files of the cache.
struct DigestTests {
    /// The results of xxHash's own program.
    @Test(
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B),
            ("abc", 0x44BC_2CF5_AD77_0999),
            ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64)])
    func itIsTheOneOfTheSpecification(text: String, expected: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes(Digest.xxh64) == expected)
    }

    @Test func eachByteCounts() {
        var numbers = SeededNumbers(seed: 1)
        for count in 1..<100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            let digest = bytes.withUnsafeBytes(Digest.xxh64)
            for index in 0..<count {
                var changed = bytes
                changed[index] ^= 1
                #expect(changed.withUnsafeBytes(Digest.xxh64) != digest)
            }
        }
    }
}

/// Forged files of the cache, with a digest that is right.
enum Forgery {
    private static let header = 32

    /// The bytes of a file of one part with some of them changed.
    static func of(_ bytes: [UInt8], using numbers: inout SeededNumbers) -> [UInt8] {
        var forged = bytes
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            let index = Int.random(in: header..<forged.count, using: &numbers)
            forged[index] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &numbers) ?? 0
        }
        let digest = forged[header...].withUnsafeBytes(Digest.xxh64)
        for byte in 0..<8 {
            forged[header - 8 + byte] = UInt8(digest >> UInt64(8 * byte) & 0xFF)
        }
        return forged
    }
}
