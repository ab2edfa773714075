import ProfileModel
import Symbolicate
import TestSupport
import Testing

/// The file of the symbol cache: reading gives the written answers, and nothing else.
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
    func writtenAnswersAreReadBack(seed: UInt64) {
        let frames = Self.answers(seed: seed)
        let bytes = CachedAnswers(frames).encoded(identity: Self.identity)
        #expect(CachedAnswers.decode(bytes, identity: Self.identity) == frames)
    }

    @Test func answersOfOtherFilesAreNone() {
        let bytes = CachedAnswers(Self.answers(seed: 1)).encoded(identity: Self.identity)
        #expect(CachedAnswers.decode(bytes, identity: Self.identity + [0]) == nil)
        #expect(CachedAnswers.decode(bytes, identity: Self.identity.reversed()) == nil)
        #expect(CachedAnswers.decode(bytes, identity: []) == nil)
    }

    @Test func everyChangedByteIsNoticed() {
        let bytes = CachedAnswers(Self.answers(seed: 2)).encoded(identity: Self.identity)
        for index in stride(from: 0, to: bytes.count, by: 3) {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(CachedAnswers.decode(damaged, identity: Self.identity) == nil)
        }
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(CachedAnswers.decode(Array(bytes[..<length]), identity: Self.identity) == nil)
        }
        #expect(CachedAnswers.decode(bytes + [0], identity: Self.identity) == nil)
    }

    /// Parts that are appended count, too, and before the older ones.
    @Test func laterPartsCountFirst() {
        let (old, new) = (Self.answers(seed: 5), Self.answers(seed: 6))
        var changed = new
        for address in old.keys.prefix(10) {
            changed[address] = [
                SourceFrame(function: "new", file: nil, line: nil, isInlined: false)
            ]
        }
        let bytes = [old, changed].flatMap { CachedAnswers($0).encoded(identity: Self.identity) }
        let expected = old.merging(changed) { $1 }
        #expect(CachedAnswers.decode(bytes, identity: Self.identity) == expected)
    }

    /// With a checksum that is right, too: a forged file must not crash us.
    @Test func madeUpFilesAreRead() {
        let bytes = CachedAnswers(Self.answers(seed: 3)).encoded(identity: Self.identity)
        var numbers = SeededNumbers(seed: 4)
        for _ in 0..<500 {
            let forged = Forgery.of(bytes, using: &numbers)
            if let read = CachedAnswers.decode(forged, identity: Self.identity) {
                #expect(read.values.allSatisfy { !$0.isEmpty })
            }
        }
    }
}
