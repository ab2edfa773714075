import Architecture
import ProfileModel
import Testing

@testable import Unwind

/// A sample that came while a mark was noted: our code's frames, then the instruction that is marked.
@Suite struct MarkFrameTests {
    private let made: HandMade
    private static let own: UInt64 = 0x30000
    private static let island: UInt64 = 0x38000
    private static let site = HandMade.code + 0x100

    init() throws {
        made = try HandMade()
        let own = [Self.own, Self.island].map {
            CodeMapping(
                start: $0, end: $0 + 0x1000, fileOffset: 0, path: CodeMapping.ownPath, inode: 1)
        }
        let mappings = (made.mappings + own).sorted { $0.start < $1.start }
        _ = made.unwinder.update(mappings, at: MonotonicTime(nanoseconds: 0))
    }

    /// The routine's frame record, what the trampoline left, the red zone, and two frames of the
    /// program's.
    private func words(sign: UInt64) -> [UInt64] {
        let redZone = [UInt64](repeating: 0xBAD, count: CallingConvention.redZone / 8)
        let record = HandMade.stack + 8 * UInt64(1 + 4 + redZone.count)
        return [0xBAD, record, Self.island + 0x40, sign, Self.site] + redZone
            + [HandMade.stack + 8192, 0]
    }

    @Test func theMarkedInstructionIsTheCaller() {
        let sign = UInt64(bitPattern: Int64(Int32(bitPattern: MarkFrame.word(record: 700))))
        #expect(MarkFrame.isSign(sign))
        let stack = made.unwind(
            from: Self.own + 0x20, framePointer: HandMade.stack + 8, words(sign: sign))
        #expect(made.addresses(stack) == [Self.site])
        #expect(stack.frames.map(\.address.kind) == [.instruction])
        #expect(stack.truncation == nil)
    }

    @Test func aFrameWithoutAMarkIsOrdinary() {
        for sign: UInt64 in [0, 0x8F17_0001, .max] {
            #expect(!MarkFrame.isSign(sign))
            let stack = made.unwind(
                from: Self.own + 0x20, framePointer: HandMade.stack + 8, words(sign: sign))
            #expect(!made.addresses(stack).contains(Self.site))
        }
    }
}
