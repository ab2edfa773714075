import TestSupport
import Testing

@testable import Agent
@testable import Sampler

extension SignpostLabels {
    mutating func label(_ key: Key) -> SignpostLabel {
        key.bytes.withUnsafeBytes { label(key, bytes: $0) }
    }
}

@Suite struct SignpostLabelsTests {
    private func key(
        _ texts: [String], isTruncated: Bool = false
    ) -> SignpostLabels.Key {
        SignpostLabels.Key(
            bytes: texts.flatMap { Array($0.utf8) }, nameLength: texts[0].utf8.count,
            categoryLength: texts[1].utf8.count, isTruncated: isTruncated)
    }

    @Test func theThreeTexts() {
        var labels = SignpostLabels()
        let label = SignpostLabel(name: "ab", category: "c", subsystem: "def")
        #expect(labels.label(key(["ab", "c", "def"])) == label)
        #expect(labels.label(key(["ab", "c", "def"])) == label)
        #expect(labels.count == 1)
        // The same bytes, divided in another way.
        #expect(
            labels.label(key(["a", "bc", "def"]))
                == SignpostLabel(name: "a", category: "bc", subsystem: "def"))
        #expect(labels.count == 2)
    }

    @Test func noMoreThanTheLimitIsKept() {
        var labels = SignpostLabels(limit: 3)
        for number in 0..<10 {
            #expect(labels.label(key(["\(number)", "", ""])).name == "\(number)")
        }
        #expect(labels.count == 3)
    }

    /// Whatever the character that the limit goes through, it is whole or not there.
    @Test(arguments: ["a", "é", "€", "😀"])
    func cutTextsEndInWholeCharacters(character: String) {
        var labels = SignpostLabels()
        for lead in 0..<4 {
            let whole =
                String(repeating: "x", count: lead) + String(repeating: character, count: 128)
            let bytes = Array(whole.utf8.prefix(128))
            let name = labels.label(
                SignpostLabels.Key(
                    bytes: bytes, nameLength: 128, categoryLength: 0, isTruncated: true)
            ).name
            #expect(name.hasSuffix("…"))
            #expect(whole.hasPrefix(name.dropLast()))
            #expect(name.utf8.count - 3 > 128 - character.utf8.count)
        }
    }

    @Test func onlyWhatIsFullWasCut() {
        var labels = SignpostLabels()
        let category = String(repeating: "c", count: 40)
        #expect(
            labels.label(key(["n", category, "s"], isTruncated: true))
                == SignpostLabel(name: "n", category: category + "…", subsystem: "s"))
    }

    @Test func anyBytes() {
        var random = SeededNumbers(seed: 3)
        var labels = SignpostLabels(limit: 10)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...216, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let label = labels.label(
                SignpostLabels.Key(
                    bytes: bytes, nameLength: Int.random(in: 0...255, using: &random),
                    categoryLength: Int.random(in: 0...255, using: &random),
                    isTruncated: Bool.random(using: &random)))
            #expect(label.name.utf8.count <= 3 * 217)
        }
    }
}
