import Architecture
import ProfileModel
import TestSupport
import Testing

@testable import Unwind

/// A process made by hand as ``HandMade``, with a library of a test's own.
struct MadeLibrary {
    let unwinder = Unwinder()
    private let scratch: Scratch
    private let symbols: [String: UInt64]
    private let bias: UInt64

    /// - Parameter source: assembly.
    init(_ source: String) throws {
        scratch = try Scratch()
        let path = try scratch.assemble(source, as: "library.so")
        let bytes = readBytes(path)
        symbols = try scratch.symbols(of: path)
        let segment = try CodeSegment(bytes)
        bias = HandMade.library &- (segment.address & ~4095)
        let nameless = CodeMapping(
            start: HandMade.code, end: HandMade.code + 0x10000, fileOffset: 0, path: "", inode: 0)
        let library = segment.mapping(at: HandMade.library, path: path, inode: inode(of: path))
        let trampoline = CodeMapping(
            start: HandMade.uretprobe, end: HandMade.uretprobe + 0x1000, fileOffset: 0,
            path: "[uprobes]", inode: 0)
        _ = unwinder.update([nameless, library, trampoline], at: MonotonicTime(nanoseconds: 0))
    }

    /// A symbol's address in the process.
    func address(_ symbol: String) throws -> UInt64 {
        try #require(symbols[symbol]) &+ bias
    }

    /// Unwinds from the stack's first word.
    func unwind(
        from programCounter: UInt64, framePointer: UInt64? = nil, _ words: [UInt64]
    ) -> (addresses: [UInt64], truncation: Truncation?) {
        var registers = Registers(programCounter: programCounter, stackPointer: HandMade.stack)
        registers[Registers.framePointer] = framePointer
        let stack = unwinder.unwind(
            Snapshot(registers: registers, stack: StackCopy(start: HandMade.stack, words: words)))
        let addresses = stack.frames.map { frame in
            frame.module == nil ? frame.address.value : frame.address.value &+ bias
        }
        return (addresses, stack.truncation)
    }
}
