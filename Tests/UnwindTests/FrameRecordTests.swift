import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Code without tables: frame records (saved frame pointer, return address) are all there is.
@Suite struct FrameRecordTests {
    private let made: HandMade
    private static let code = HandMade.code
    private static let stack = HandMade.stack

    init() throws { made = try HandMade() }

    @Test func aChainToThePsABIsEnd() {
        let stack = made.unwind(
            from: Self.code + 1, framePointer: Self.stack + 8,
            [0xBAD, Self.stack + 32, Self.code + 2, 0xBAD, 0, Self.code + 3])
        #expect(stack.truncation == nil)
        #expect(made.addresses(stack) == [Self.code + 1, Self.code + 2, Self.code + 3])
        #expect(stack.frames.map(\.address.kind) == [.instruction, .returnAddress, .returnAddress])
        #expect(stack.frames.allSatisfy { $0.module == nil })
    }

    @Test func aReturnAddressOfZeroEndsItToo() {
        let stack = made.unwind(
            from: Self.code + 1, framePointer: Self.stack, [Self.stack + 64, 0])
        #expect(stack.truncation == nil)
        #expect(stack.frames.count == 1)
    }

    /// What a JIT compiler mapped since the mappings were read last.
    @Test func codeThatIsNotKnownYetIsCrossed() {
        let (first, second): (UInt64, UInt64) = (0x7F00_0000_1234, 0x7F00_0000_5678)
        let words = [
            Self.stack + 16, first, Self.stack + 32, second, Self.stack + 48, Self.code + 2,
            0, Self.code + 3,
        ]
        let stack = made.unwind(from: Self.code + 1, framePointer: Self.stack, words)
        #expect(stack.truncation == nil)
        let expected = [Self.code + 1, first, second, Self.code + 2, Self.code + 3]
        #expect(made.addresses(stack) == expected)
        // Without known code at its end it is no chain of frames.
        let lost = made.unwind(
            from: Self.code + 1, framePointer: Self.stack, Array(words.prefix(4)) + [0, 0xBAD])
        #expect(lost.truncation == .noRule)
        #expect(made.addresses(lost) == [Self.code + 1])
    }

    private static let broken: [(String, UInt64, [UInt64])] = [
        ("to itself", stack, [stack, code + 2]),
        ("back and forth", stack + 16, [stack + 16, code + 2, stack, code + 3]),
        ("misaligned", stack + 4, [0, code + 2, 0, code + 2]),
        ("misaligned, further on", stack, [stack + 20, code + 2, 0, code + 2, 0, code + 2]),
        ("below the stack pointer", stack - 16, [0, code + 2]),
        ("beyond the copy", stack + 8, [0, 0]), ("far away", 0xFFFF_FFFF_FFFF_FFF8, [0, 0]),
        ("the last address", .max, [0, 0]), ("half copied", stack + 8, [0, stack + 64]),
        ("returns into the stack", stack, [stack + 16, stack + 8, 0, code + 2]),
        ("returns into nothing", stack, [stack + 24, 0xDEAD_BEEF, 0, code + 2]),
        ("further out into nothing", stack, [stack + 4096, code + 2, 0, code + 2]),
    ]

    @Test(arguments: broken)
    func anInvalidRecordEndsTheWalk(name: String, framePointer: UInt64, words: [UInt64]) {
        let stack = made.unwind(from: Self.code + 1, framePointer: framePointer, words)
        let reasons: [Truncation] = [.noRule, .noProgress, .stackLimit, .unmappedCode]
        #expect(stack.truncation.map { reasons.contains($0) } == true)
        #expect(made.addresses(stack).first == Self.code + 1)
        #expect(stack.frames.count <= 3)
    }

    @Test func anUnknownFramePointerIsFoundOnTheStack() {
        // Two records that look right and lead nowhere, then the real one.
        let words: [UInt64] = [
            Self.stack + 4096, Self.code + 9, Self.stack + 40, 0xBAD, 7, Self.stack + 64,
            Self.code + 2, 0xBAD, 0, Self.code + 3,
        ]
        let stack = made.unwind(from: Self.code + 1, words)
        #expect(stack.truncation == nil)
        #expect(made.addresses(stack) == [Self.code + 1, Self.code + 2, Self.code + 3])
    }

    @Test func anUnknownFramePointerThatIsNotThere() {
        let stack = made.unwind(from: Self.code + 1, [1, Self.code, 2, Self.stack - 8, Self.code])
        #expect(stack.truncation == .unknownRegister)
        #expect(made.addresses(stack) == [Self.code + 1])
        let empty = made.unwind(from: Self.code + 1, [])
        #expect(empty.truncation == .unknownRegister)
        #expect(empty.frames.count == 1)
    }

    @Test func aCallThroughANullPointer() {
        let stack = made.unwind(
            from: 0, framePointer: Self.stack + 8, [Self.code + 2, 0, Self.code + 3])
        #expect(stack.truncation == nil)
        #expect(made.addresses(stack) == [0, Self.code + 2, Self.code + 3])
        #expect(stack.frames.first?.module == nil)
    }

    @Test func aJumpToNowhere() {
        let stack = made.unwind(from: 0xDEAD_0000, framePointer: 0, [1, 2, 3])
        #expect(stack.truncation == .unmappedCode)
        let empty = made.unwind(from: 0xDEAD_0000, framePointer: 0, [])
        #expect(empty.truncation == .unmappedCode)
    }

    /// 20,000 frames of a recursion: the walk ends at its limit.
    @Test func aVeryDeepStackIsCutOff() {
        let stack = made.unwind(
            from: Self.code + 1, framePointer: Self.stack, Self.chain(count: 20_000))
        #expect(stack.truncation == .frameLimit)
        #expect(stack.frames.count == 4096)
    }

    /// The worst for guessing: every second word starts a long chain that leads nowhere.
    @Test func guessingTakesABoundedTime() {
        let clock = ContinuousClock()
        let start = clock.now
        let stack = made.unwind(from: Self.code + 1, Self.chain(count: 2000))
        #expect(stack.truncation == .unknownRegister)
        #expect(clock.now - start < .seconds(30))
    }

    /// Frame records, each leading to the next, without an end.
    private static func chain(count: Int) -> [UInt64] {
        var words: [UInt64] = []
        for index in 0..<UInt64(count) {
            words.append(stack + 16 * (index + 1))
            words.append(code + 1 + (index & 0xFFF))
        }
        return words
    }

    @Test func noStackIsATrapOrEndless() {
        var random = SeededNumbers(seed: 31)
        for _ in 0..<2000 {
            func word() -> UInt64 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: Self.code + UInt64.random(in: 0..<0x10000, using: &random)
                case 1, 2: Self.stack + 8 * UInt64.random(in: 0..<40, using: &random)
                case 3: HandMade.library + UInt64.random(in: 0..<0x200, using: &random)
                case 4: [0, 1, .max, .max - 7].randomElement(using: &random) ?? 0
                default: random.next()
                }
            }
            let words = (0..<40).map { _ in word() }
            var others: [Int: UInt64] = [:]
            for number in 0..<16 where number != 7 && Bool.random(using: &random) {
                others[number] = word()
            }
            let stack = made.unwind(from: word(), words, others: others)
            #expect(stack.frames.count <= 4096)
        }
    }
}
