import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// A process made by hand: code at 0x10000 that no file backs, the library of ``Assembly`` at
/// 0x400000, and a stack at 0x70000000.
struct HandMade {
    static let code: UInt64 = 0x10000
    static let library: UInt64 = 0x40_0000
    static let stack: UInt64 = 0x7000_0000
    /// Only in a ``MadeLibrary``.
    static let uretprobe: UInt64 = 0x7FFF_E000

    let unwinder: Unwinder
    private let scratch: Scratch
    private let symbols: [String: UInt64]
    private let bias: UInt64

    init(engine: UnwindEngine = .quick, opinion: SecondOpinion = SecondOpinion()) throws {
        unwinder = Unwinder(engine: engine, opinion: opinion)
        scratch = try Scratch()
        let assembled = try Assembly.library.get()
        symbols = assembled.symbols
        let path = try scratch.write(assembled.bytes, to: "rules.so")
        let segment = try CodeSegment(assembled.bytes)
        bias = Self.library &- (segment.address & ~4095)
        mappings = [
            CodeMapping(
                start: Self.code, end: Self.code + 0x10000, fileOffset: 0, path: "", inode: 0),
            segment.mapping(at: Self.library, path: path, inode: inode(of: path)),
        ]
        update()
    }

    let mappings: [CodeMapping]

    func update() {
        _ = unwinder.update(mappings, at: MonotonicTime(nanoseconds: 0))
    }

    /// A symbol's address in the process.
    func address(_ symbol: String, _ offset: UInt64 = 0) throws -> UInt64 {
        try #require(symbols[symbol]) &+ bias &+ offset
    }

    /// Unwinds from the stack's first word.
    ///
    /// - Parameter others: further registers by their numbers; rax is 1 unless given.
    func unwind(
        from programCounter: UInt64, framePointer: UInt64? = nil, _ words: [UInt64],
        others: [Int: UInt64] = [:]
    ) -> Callstack {
        var registers = Registers(programCounter: programCounter, stackPointer: Self.stack)
        registers[Registers.framePointer] = framePointer
        registers[Registers.result] = 1
        for (number, value) in others { registers[number] = value }
        return unwinder.unwind(
            Snapshot(registers: registers, stack: StackCopy(start: Self.stack, words: words)))
    }

    /// The addresses of a stack in the process, innermost first.
    func addresses(_ callstack: Callstack) -> [UInt64] {
        callstack.frames.map { frame in
            frame.module == nil ? frame.address.value : frame.address.value &+ bias
        }
    }
}
