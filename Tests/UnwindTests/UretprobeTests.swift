import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// Return addresses that are a uretprobe's trampoline.
@Suite struct UretprobeTests {
    private let made: MadeLibrary

    init() throws { made = try MadeLibrary(Self.source) }

    private static func function(_ name: String, frame: Int, _ body: String) -> String {
        """
        .type \(name), @function
        \(name):
          .cfi_startproc
          sub $\(frame), %rsp
          .cfi_adjust_cfa_offset \(frame)
        \(body)
          add $\(frame), %rsp
          .cfi_adjust_cfa_offset -\(frame)
          ret
          .cfi_endproc

        """
    }

    private static let source = [
        ".text\n", function("probed", frame: 8, "probed_inside:\n  nop"),
        function("once", frame: 24, "  call probed\nonce_1:"),
        function("twice", frame: 40, "  call probed\ntwice_1:\n  call probed\ntwice_2:"),
        function("either", frame: 56, "  call probed\neither_1:"),
        function("other", frame: 56, "  call probed\nother_1:"), entry,
    ].joined()

    private static let entry = """
        .type entry, @function
        entry:
          .cfi_startproc
          .cfi_undefined rip
          call once
        of_once:
          call twice
        of_twice:
          call either
        of_either:
          call *%rax
        of_any:
          hlt
          .cfi_endproc

        """

    private static let probe = HandMade.uretprobe

    /// What the walk finds above `probed`, which returns to the trampoline.
    private func callers(_ words: [UInt64]) throws -> (addresses: [UInt64], truncation: Truncation?)
    {
        let inside = try made.address("probed_inside")
        let found = made.unwind(from: inside, [0, Self.probe] + words + filler(400))
        #expect(found.addresses.first == inside)
        return (Array(found.addresses.dropFirst()), found.truncation)
    }

    private func filler(_ frame: Int) -> [UInt64] { Array(repeating: 0, count: frame / 8) }

    @Test func theOnlyCaller() throws {
        let returns = try made.address("of_once")
        let found = try callers(filler(24) + [returns])
        #expect(found.addresses == [try made.address("once_1"), returns])
        #expect(found.truncation == nil)
    }

    /// The caller calls it in two places: its function is known.
    @Test func oneOfTwoCalls() throws {
        let returns = try made.address("of_twice")
        let found = try callers(filler(40) + [returns])
        #expect(found.addresses == [try made.address("twice"), returns])
        #expect(found.truncation == nil)
    }

    /// The probed function tells frames of the same size apart, if it is known.
    @Test func framesThatAreAlike() throws {
        let returns = try made.address("of_either")
        let found = try callers(filler(56) + [returns])
        #expect(found.addresses == [try made.address("either_1"), returns])
        let unknown = try callers(filler(56) + [try made.address("of_any")])
        #expect(unknown.addresses.isEmpty)
        #expect(unknown.truncation == .uretprobe)
    }

    /// The caller is probed, too.
    @Test func oneAfterTheOther() throws {
        let found = try callers(filler(24) + [Self.probe])
        #expect(found.addresses == [try made.address("once_1"), try made.address("of_once")])
        #expect(found.truncation == nil)
    }

    @Test func noCallerFits() throws {
        for words in [[], filler(8), filler(200), filler(24) + [try made.address("of_twice")]] {
            let found = try callers(words)
            #expect(found.addresses.isEmpty)
            #expect(found.truncation == .uretprobe)
        }
    }
}
