import ProfileModel
import Testing

@testable import Unwind

/// Go's way to functions of C: its runtime changes to the thread's own stack for them.
@Suite struct GoCallTests {
    private let made: MadeLibrary
    private let stack = HandMade.stack

    /// As Go's runtime, whose tables do not describe its changes to the stack.
    private static let source = """
        .section .go.buildinfo, "a"
            .long 0
        .text
        .type runtime.asmcgocall.abi0, @function
        runtime.asmcgocall.abi0:
            .cfi_startproc
            nop
            call *%rax
        switched_after:
            mov 0x30(%rsp), %rdi
            nop
            call *%rax
        stayed_after:
            mov 0x28(%rsp), %rsi
            mov %rsi, %rsp
            ret
            .cfi_endproc
            .size runtime.asmcgocall.abi0, . - runtime.asmcgocall.abi0

        from_c:
            .cfi_startproc
            nop
            ret
            .cfi_endproc

        general_from_c:
            .cfi_startproc
            .cfi_escape 0x0f, 3, 0x77, 8, 0x06
            nop
            ret
            .cfi_endproc

        entry:
            .cfi_startproc
            .cfi_undefined %rip
            call from_c
        entry_after:
            hlt
            .cfi_endproc
        """

    init() throws { made = try MadeLibrary(Self.source) }

    @Test func aStackThatWasChangedToBeginsThere() throws {
        let (leaf, switched) = (try made.address("from_c"), try made.address("switched_after"))
        let found = made.unwind(from: leaf, [switched, 1, 2, 3, 4, 5, 0xBAD, 0xBAD])
        #expect(found.truncation == nil)
        #expect(found.addresses == [leaf, switched])
    }

    /// By both walks.
    @Test(arguments: ["from_c", "general_from_c"]) func onTheSameStackItGoesOn(name: String) throws
    {
        let (leaf, stayed) = (try made.address(name), try made.address("stayed_after"))
        let entry = try made.address("entry_after")
        // Its return address, five words, where the stack pointer was; there the way back.
        let before = name == "from_c" ? [] : [7, stack + 24]
        let saved = stack + UInt64(8 * (before.count + 10))
        let words = before + [stayed, 0, 0, 0, 0, 0, saved, 0, 0, 0, entry]
        let found = made.unwind(from: leaf, words)
        #expect(found.truncation == nil)
        #expect(found.addresses == [leaf, stayed, entry])
    }

    @Test func wherePlacesMakeNoSenseItEnds() throws {
        let (leaf, stayed) = (try made.address("from_c"), try made.address("stayed_after"))
        func truncation(_ saved: UInt64) -> Truncation? {
            made.unwind(from: leaf, [stayed, 0, 0, 0, 0, 0, saved, 0x1234]).truncation
        }
        #expect(truncation(stack) == .noProgress)
        #expect(truncation(0) == .noProgress)
        #expect(truncation(stack + 4096) == .stackLimit)
        #expect(truncation(.max) == .stackLimit)
        #expect(truncation(stack + 56) == .unmappedCode)
        #expect(made.unwind(from: leaf, [stayed, 0]).truncation == .stackLimit)
    }

    @Test func elsewhereInItTheTablesCount() throws {
        let inside = try made.address("runtime.asmcgocall.abi0")
        let entry = try made.address("entry_after")
        let found = made.unwind(from: inside, [entry])
        #expect(found.truncation == nil)
        #expect(found.addresses == [inside, entry])
    }
}
