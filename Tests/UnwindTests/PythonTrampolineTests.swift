import Architecture
import ProfileModel
import Testing

@testable import Unwind

/// Stacks through copies of CPython's trampoline, made by hand: the interpreter is a library that has
/// the original, the copies lie in code without a file.
@Suite struct PythonTrampolineTests {
    private static let plain: [UInt8] = [
        0x48, 0x83, 0xEC, 0x08, 0xFF, 0xD1, 0x48, 0x83, 0xC4, 0x08, 0xC3, 0x90, 0x90, 0x90, 0x90,
        0x90,
    ]
    private static let framed: [UInt8] = [
        0x55, 0x48, 0x89, 0xE5, 0xFF, 0xD1, 0x5D, 0xC3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
        0x90,
    ]
    private static let marker: [UInt8] = [0xF3, 0x0F, 0x1E, 0xFA]

    /// As CPython's, and callers that call it through a pointer and by name.
    private static func source(_ trampoline: String, symbol: String) -> String {
        """
        .text
        .globl \(symbol)
            .balign 16
        \(symbol):
            \(trampoline)
            nop

            .balign 16
        interpreter:
            .cfi_startproc
            .cfi_def_cfa_offset 32
            call *%rax
        interpreter_after:
            nop
            ret
            .cfi_endproc

        by_name:
            .cfi_startproc
            .cfi_def_cfa_offset 32
            call interpreter
        by_name_after:
            nop
            ret
            .cfi_endproc

        entry:
            .cfi_startproc
            .cfi_undefined %rip
            call *%rax
        entry_after:
            hlt
            .cfi_endproc
        """
    }

    private static func made(
        _ trampoline: String = "sub $8, %rsp; call *%rcx; add $8, %rsp; ret",
        symbol: String = "_Py_trampoline_func_start"
    ) throws -> MadeLibrary {
        try MadeLibrary(source(trampoline, symbol: symbol))
    }

    /// Where a copy lies in either case, and where one does if they are packed.
    private static let copy = HandMade.code + 11 * 16 * 5
    private static let packedCopy = HandMade.code + 11 * 5

    /// The words pushed at each instruction, and the instruction behind the call.
    private static let shapes: [([UInt8], [UInt64: UInt64], UInt64)] = [
        (plain, [0: 0, 4: 8, 6: 8, 10: 0], 6), (framed, [0: 0, 1: 8, 4: 8, 6: 8, 7: 0], 6),
        (marker + plain, [0: 0, 4: 0, 8: 8, 10: 8, 14: 0], 10),
    ]

    /// In copies that are packed, and in those that lie at multiples of 16 bytes.
    @Test(arguments: shapes)
    func registersPushedByACopy(
        code: [UInt8], places: [UInt64: UInt64], behindCall: UInt64
    ) throws {
        let trampoline = try #require(PythonTrampoline(code: code))
        let size = try #require(places.keys.max()) + 1
        for arena in [0, 3 << 16] as [UInt64] {
            for offset in 0..<4096 as Range<UInt64> {
                let expected = Set([size, 16].compactMap { places[offset % $0] })
                #expect(
                    trampoline.returnPlaces(at: arena + offset, isReturnAddress: false) == expected)
                let isBehindCall = offset % size == behindCall || offset % 16 == behindCall
                #expect(
                    trampoline.returnPlaces(at: arena + offset, isReturnAddress: true)
                        == (isBehindCall ? [8] : []))
            }
        }
    }

    @Test func otherShapesAreNone() {
        #expect(PythonTrampoline(code: []) == nil)
        for code in [Self.plain, Self.framed, Self.marker + Self.plain] {
            let length = code.lastIndex(of: 0xC3) ?? 0
            for index in 0...length {
                var changed = code
                changed[index] ^= 1
                #expect(PythonTrampoline(code: changed) == nil, "\(index)")
                #expect(PythonTrampoline(code: Array(code.prefix(index))) == nil)
            }
        }
    }

    /// The interpreter calls a copy, which calls the interpreter, and so on; no frame pointer is
    /// known.
    @Test(arguments: [nil, 0x1234] as [UInt64?])
    func framesGoOnBehindCopies(framePointer: UInt64?) throws {
        let made = try Self.made()
        let (inner, outer) = (try made.address("interpreter_after"), Self.copy + 32 + 6)
        let entry = try made.address("entry_after")
        let words: [UInt64] = [
            7, 7, 7, Self.copy + 6, inner, inner, 7, 7, 7, outer, inner, entry, 0,
        ]
        let stack = made.unwind(from: inner, framePointer: framePointer, words)
        #expect(stack.truncation == nil)
        #expect(stack.addresses == [inner, Self.copy + 6, inner, outer, entry])
    }

    @Test func packedCopies() throws {
        let made = try Self.made()
        let (inner, entry) = (
            try made.address("interpreter_after"), try made.address("entry_after")
        )
        let stack = made.unwind(from: inner, [7, 7, 7, Self.packedCopy + 6, inner, entry])
        #expect(stack.truncation == nil)
        #expect(stack.addresses == [inner, Self.packedCopy + 6, entry])
    }

    /// Stopped at each of its instructions, with another return address where none is meant.
    @Test(arguments: [0, 4, 6, 10] as [UInt64]) func leaves(offset: UInt64) throws {
        let made = try Self.made()
        let (other, entry) = (
            try made.address("interpreter_after"), try made.address("entry_after")
        )
        let words = offset == 0 || offset == 10 ? [entry, other] : [other, entry]
        let stack = made.unwind(from: Self.copy + offset, words)
        #expect(stack.truncation == nil)
        #expect(stack.addresses == [Self.copy + offset, entry])
    }

    @Test func theFramePointerIsRestored() throws {
        let made = try Self.made("push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret")
        let (inner, entry) = (
            try made.address("interpreter_after"), try made.address("entry_after")
        )
        let stack = made.unwind(
            from: inner, [7, 7, 7, Self.copy + 6, 0x1234, entry])
        #expect(stack.truncation == nil)
        #expect(stack.addresses == [inner, Self.copy + 6, entry])
    }

    /// Other code without a file, or code that only looks like a copy.
    @Test func codeThatCannotBeACopy() throws {
        let made = try Self.made()
        let inner = try made.address("interpreter_after")
        let (entry, named) = (try made.address("entry_after"), try made.address("by_name_after"))
        func truncation(_ returnAddress: UInt64, _ words: [UInt64]) -> Truncation? {
            made.unwind(from: inner, framePointer: 0x1234, [7, 7, 7, returnAddress] + words)
                .truncation
        }
        #expect(truncation(Self.copy + 6, [7, entry]) == nil)
        #expect(truncation(Self.copy + 5, [7, entry]) == .noRule)
        #expect(truncation(Self.copy + 10, [7, entry]) == .noRule)
        // Trampolines are called through a pointer.
        #expect(truncation(Self.copy + 6, [7, named, 7, 7, 7, entry]) == .noRule)
        #expect(truncation(Self.copy + 6, [7, 7]) == .noRule)
        #expect(truncation(Self.copy + 6, [7]) == .noRule)
        // Without an interpreter, or one of another shape.
        for other in [
            try Self.made(symbol: "elsewhere"), try Self.made("sub $24, %rsp; call *%rcx; ret"),
        ] {
            let stack = other.unwind(
                from: try other.address("interpreter_after"), framePointer: 0x1234,
                [7, 7, 7, Self.copy + 6, 7, try other.address("entry_after")])
            #expect(stack.truncation == .noRule)
        }
    }
}
